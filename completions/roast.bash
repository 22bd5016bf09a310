# shellcheck shell=bash
# bash completion for roast(1), which knows itself what can follow; needs no other package.

_roast() {
        local cur=${COMP_WORDS[COMP_CWORD]} answer suffix
        answer=$(command "${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
        [[ $cur != '=' ]] || cur=''
        case $answer in
        :dirs)
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -d -- "$cur")
                ;;
        :files*)
                suffix=${answer#:files}
                suffix=${suffix# }
                compopt -o filenames
                mapfile -t COMPREPLY < <(
                        compgen -f -X "!*${suffix}" -- "$cur"
                        [[ -z $suffix ]] || compgen -d -- "$cur"
                )
                ;;
        *) mapfile -t COMPREPLY < <(cut -sf1 <<<"$answer") ;;
        esac
}

complete -F _roast roast
