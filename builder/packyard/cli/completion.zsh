_packyard() {
    local -a found
    found=(${(f)"$(packyard complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
    if (( ! $#found )); then
        _files
        return
    fi
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _packyard packyard
