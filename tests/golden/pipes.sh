# SPDX-License-Identifier: Apache-2.0
# The reader of a pipe may stop early; a trace may come from standard input.
cp "$DATA/small.json" .
"$OPSCOPE" table events small.json --format csv | true
"$OPSCOPE" table threads - --format csv <small.json
gzip -c small.json | "$OPSCOPE" table threads - --format csv
{ for ((i = 0; i < 100000; i++)); do
      echo '{"ph":"X","name":"a name that is not short","pid":1,"tid":1,"ts":'$i',"dur":1}'
      [ $i -lt 99999 ] && echo ,
  done | (echo '['; cat; echo ']'); } >many.json
"$OPSCOPE" table events many.json --format csv | head -n 1
echo "${PIPESTATUS[0]}"
"$OPSCOPE" table events many.json --format csv | wc -l
"$OPSCOPE" table events many.json 2>/dev/null | tail -n 1
# An interrupt ends the command, also while it waits for input; the shell sees the signal in its
# status.
python3 - "$OPSCOPE" <<'END'
import signal, subprocess, sys, time
with open("many.json", "rb") as f:
    start = f.read(100000)
p = subprocess.Popen([sys.argv[1], "table", "events", "-"], stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
p.stdin.write(start)
p.stdin.flush()
time.sleep(0.3)
p.send_signal(signal.SIGINT)
print(signal.Signals(-p.wait(60)).name, p.stdout.read(), p.stderr.read())
END
# Neither progress nor colour without a terminal, even if TERM is set.
{ head -c 3000000 many.json; sleep 0.7; tail -c +3000001 many.json; } |
    TERM=xterm "$OPSCOPE" table threads - 2>&1 | tr -dc '\033' | wc -c
