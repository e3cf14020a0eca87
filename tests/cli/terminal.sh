# On a terminal: progress, colours and sketches, through a pseudo-terminal;
# elsewhere none of them.
. "$(dirname "$0")/helpers.bash"

status 0 "on terminals" python3 "$source_dir/tests/cli/terminal.py" \
  "$tempera" "$models/normal.so" y.json
status 0 "elsewhere" "$tempera" sample "$models/normal.so" -d y.json --seed 1 \
  --iterations 300 --warmup 100 -o piped
cat err >> out
grep -q "$(printf '\033')" out && fail "escapes in a pipe"
grep -q "$(printf '\r')" out && fail "carriage returns in a pipe"

# Tables align whatever the script of the names.
mkdir Ωmega "日本" plain
for run in Ωmega 日本 plain; do cp piped/summary.json $run; done
status 0 "compare" "$tempera" compare Ωmega 日本 plain
holds "columns stand under each other" python3 - <<'PYTHON'
import unicodedata
rows = [line for line in open("out", encoding="utf-8")
        if line.startswith(("  Ωmega", "  日本", "  plain"))]
assert len(rows) >= 3, rows
def place(row):
    before = row[:row.index("-5.")]
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in before)
assert len({place(row) for row in rows[:3]}) == 1, rows
PYTHON
finish
