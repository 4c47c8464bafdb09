# SPDX-License-Identifier: Apache-2.0
# ./check lists what it needs before it installs it; ./check fast installs nothing. The system is a
# stub without two packages, and its apt-get prints the output so far and ends ./check.
cp "$DATA/../../check" .
mkdir stubs
cat >stubs/dpkg-query <<'END'
#!/bin/sh
for last; do :; done
case $last in libisal-dev | libzstd-dev) exit 1 ;; esac
echo install ok installed
END
cat >stubs/apt-get <<'END'
#!/bin/sh
{
    cat said
    echo "apt-get $1 was called"
} >before
kill $PPID
END
printf '#!/bin/sh\nexec "$@"\n' >stubs/sudo
chmod +x stubs/*

echo "--- fast"
PATH=$PWD/stubs:$PATH ./check fast
echo "status $?"
cat before 2>/dev/null

for mode in all full; do
    echo "--- $mode"
    { PATH=$PWD/stubs:$PATH bash -c "exec ./check $mode >said 2>&1"; } 2>/dev/null
    cat before
    rm before
done

echo "--- how to use it"
./check --help | head -n 5
./check nonsense
echo "status $?"
