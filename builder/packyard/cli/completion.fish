function __packyard_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (packyard complete -- $words[2..-1] 2>/dev/null)
    if test (count $found) -eq 0
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $found
    end
end
complete -c packyard -f -a '(__packyard_complete)'
