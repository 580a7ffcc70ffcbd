_packyard() {
    local IFS=' ' words=() piece i
    local line=${COMP_WORDS[*]} IFS=$'\n'
    if [[ -n $COMP_LINE ]]; then line=${COMP_LINE:0:COMP_POINT}; fi
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece=${COMP_WORDS[i]}
        if ((i == 0)) || [[ $line == [[:blank:]]* ]]; then
            words+=("")
            line=${line#"${line%%[![:blank:]]*}"}
        fi
        if ((i == COMP_CWORD)); then piece=$line; fi
        words[${#words[@]} - 1]+=$piece
        line=${line#"$piece"}
    done
    COMPREPLY=($(packyard complete -- "${words[@]:1}" 2>/dev/null))
    if ((${#COMPREPLY[@]} == 0)); then
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -f -- "$piece"))
        return
    fi
    if [[ ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
    if [[ $piece != *[!=:@]* ]]; then piece=; fi
    line=${words[${#words[@]} - 1]}
    COMPREPLY=("${COMPREPLY[@]#"${line%"$piece"}"}")
}
complete -F _packyard packyard
