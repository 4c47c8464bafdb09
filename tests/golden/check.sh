# SPDX-License-Identifier: Apache-2.0
# ./check lists what it needs before it installs it; ./check fast installs nothing. The system is a
# stub without two packages, and its apt-get prints the output so far and ends ./check.
cp "$DATA/../../check" .
mkdir tools
cp -r "$DATA/../../tools/runner" tools/
rm tools/runner/steps_test.py
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
./check --nonsense
echo "status $?"

echo "--- a test that somebody adds"
mkdir tests
printf '%s\n' '# step: answers' '# turn: 3' '# The answer is 42.' 'echo 3 passed, 0 failed' >tests/answers.sh
printf '%s\n' '# step: wrong' '# mode: full' '# It is not.' 'echo error: 41; exit 1' >tests/wrong.sh
./check --list all
export PATH=$PWD/stubs:$PATH
sed -i 's/libisal-dev/nothing/' stubs/dpkg-query # as if all were installed
sed -i 's/libzstd-dev/nothing/' stubs/dpkg-query
quiet() { sed 's/[0-9]* s, [0-9]* s of/N s, N s of/; s/^[0-9]* minutes.*/N minutes/'; }
CHECK_SEED=1 ./check 'ans*' | quiet
CHECK_SEED=1 ./check wrong | quiet
echo "status ${PIPESTATUS[0]}"
printf '%s\n' '# step: other' '# turns: 3' >tests/other.sh
./check other
echo "status $?"
