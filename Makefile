# SPDX-License-Identifier: Apache-2.0
# Meson does the work; this greets those who type "make".
all: build/build.ninja
	ninja -C build
check:
	./check
install: all
	meson install -C build --no-rebuild
	[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig
build/build.ninja:
	meson setup build
.PHONY: all check install
