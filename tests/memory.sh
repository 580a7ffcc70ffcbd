#!/bin/sh
# Print a folder in memory for temporary files, where 8 GB are free for them and programs can be run in it; else nothing.

folder=/dev/shm
[ -w "$folder" ] || exit 0
room=$(df -Pk "$folder" | awk 'NR == 2 { print $4 }')
free=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
[ "${room:-0}" -gt 8000000 ] && [ "${free:-0}" -gt 14000000 ] || exit 0

program=$(mktemp "$folder/XXXXXX") &&
printf '#!/bin/sh\n' > "$program" && chmod +x "$program" && "$program" 2> /dev/null && echo "$folder"
rm -f "$program"
