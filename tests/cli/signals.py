"""signals.py TEMPERA - called by signals.sh: send a signal after random amounts
of processor time and measure how much more is taken until the end. Processor
time, since other processes may be running; with the sanitizers more of it."""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

MOST = float(os.environ.get("TEMPERA_SIGNAL_SECONDS", "1"))
TICK = os.sysconf("SC_CLK_TCK")
SHORT = ["--iterations", "200", "--warmup", "200", "--chains", "2"]
# data, further options, moments up to so many seconds, how many
SCENES = [("30", [], 2, 3), ("30", SHORT, 1.5, 4), ("1000", [], 4, 4),
          ("5000", [], 6, 4)]
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}


def used(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def stop(tempera, data, options, moment, number):
    """Processor time from the signal to the end, or None; and the status."""
    shutil.rmtree("run", ignore_errors=True)
    run = subprocess.Popen(
        [tempera, "sample", "many.stan", "-d", data + ".json", "--seed", "1",
         "--threads", "1", "-o", "run"] + options,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while run.poll() is None and used(run.pid) < moment:
        time.sleep(0.005)
    if run.poll() is not None:
        return None, run.returncode
    before = used(run.pid)
    os.kill(run.pid, number)
    _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime - before, run.returncode


def main():
    tempera, bad, heard = sys.argv[1], 0, 0
    moments = random.Random(1)
    for data, options, until, count in SCENES:
        for k in range(count):
            number = (signal.SIGINT, signal.SIGTERM)[k % 2]
            moment = moments.uniform(0.05, until)
            took, status = stop(tempera, data, options, moment, number)
            print("%s parameters, after %.2f s: %s, status %d" %
                  (data, moment, "ended before" if took is None else
                   "%.2f s more" % took, status))
            if took is None:
                bad += status != 0
                continue
            heard += 1
            # Before there is anything to keep, the signal itself ends it: a
            # shell gives the same status. A run that was over is done.
            bad += took > MOST or status not in (STATUS[number], -number, 0)
    return 1 if bad or not heard else 0


if __name__ == "__main__":
    sys.exit(main())
