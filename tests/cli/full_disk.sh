# A disk that fills up: a clear message, exit status 1, and what was drawn
# before is kept in whole rows, as many in every chain.
. "$(dirname "$0")/helpers.bash"

limited() (
  ulimit -f 100 # KiB per file
  "$tempera" sample "$models/normal.so" -d y.json --seed 1 --chains 2 \
    --iterations 200000 --warmup 200 -o limited
)
status 1 "file size limit" limited
says "file size limit" 'cannot write limited/.*csv: File too large'
says "file size limit" 'the first [0-9]+ draws of each chain are on disk'
safe=$(sed -n 's/.*the first \([0-9]*\) draws.*/\1/p' err)
for file in target-1 target-2 tempered-1 tempered-2; do
  [ "$(rows limited/$file.csv)" = "$safe" ] ||
    fail "$file does not hold the $safe rows promised"
done
awk -F, '/^#/ { next } !columns { columns = NF } NF != columns { bad = 1 }
  END { exit bad || columns < 5 }' limited/target-1.csv || fail "a row is not whole"
grep -q "num_samples = $safe " limited/target-1.csv ||
  fail "num_samples does not follow the rows"

# What is there can be read, as that of a run that was killed.
status 0 "its summary" "$tempera" summary limited
prints "its summary" "$safe iterations"
prints "its summary" '^ +mu '
status 0 "its page, elsewhere" "$tempera" report limited -o page.html
status 0 "compared with itself" "$tempera" compare limited limited

mkdir full && ln -s /dev/full full/target-1.csv
status 1 "full from the start" "$tempera" sample "$models/normal.so" \
  -d y.json --seed 1 --iterations 300 -o full
says "full from the start" \
  'cannot write full/target-1.csv: No space left on device'

"$tempera" sample "$models/normal.so" -d y.json --seed 1 --iterations 300 \
  -o fine > /dev/full 2> err
[ $? -eq 1 ] || fail "a full standard output is an error"
says "full output" 'cannot write to standard output'
finish
