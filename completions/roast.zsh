#compdef roast
# zsh completion for roast(1), which knows itself what can follow.

_roast() {
        local -a lines names shown
        lines=(${(f)"$(command roast --complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
        case $lines[1] in
        :dirs) _files -/ ;;
        :files) _files ;;
        :files*) _files -g "*${lines[1]#:files }(-.)" ;;
        *)
                names=(${lines%%$'\t'*})
                shown=(${lines/$'\t'/  -- })
                compadd -l -d shown -a names
                ;;
        esac
}

_roast "$@"
