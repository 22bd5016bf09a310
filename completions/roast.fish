# fish completion for roast(1), which knows itself what can follow.

function __roast_complete
    set -l typed (commandline -ct)
    set -l lines (command roast --complete (commandline -opc)[2..] "$typed" 2>/dev/null)
    switch "$lines[1]"
        case :dirs
            __fish_complete_directories "$typed"
        case :files
            __fish_complete_path "$typed"
        case ':files *'
            # fish itself only puts the files with this ending before the others
            set -l suffix (string replace ':files ' '' -- $lines[1])
            set -l ending (string escape --style=regex -- $suffix)
            __fish_complete_suffix $suffix | string match -er "($ending|/)(\t|"'$)'
        case '*'
            printf '%s\n' $lines
    end
end

complete -c roast -f -a '(__roast_complete)'
