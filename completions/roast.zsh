#compdef roast
# zsh completion for roast(1)

_roast_metric_keys() {
        local -a keys
        keys=(${(f)"$(_call_program metrics roast metrics --format csv 2>/dev/null)"})
        shift keys
        keys=(${keys%%,*})
        compadd -a keys
}

_roast() {
        local curcontext=$curcontext state line
        local -a verbs format tables
        verbs=(
                'show:show what was measured in a run'
                'list:list the runs in a directory'
                'check:tell whether a run file is whole'
                'inspect:tell what is in ROOT files, and what a chunk takes'
                'metrics:explain every metric\: unit, formula, source'
        )
        tables=(throughput events resources timing fine chunks split ledger datasets sections)
        format=('(-f --format)'{-f+,--format=}'[how to print it]:format:(text json csv markdown)')

        _arguments -C \
                '(- *)'{-h,--help}'[print help]' \
                '(- *)'{-V,--version}'[print the version]' \
                '1:verb:->verb' \
                '*::argument:->argument' && return

        case $state in
        verb)
                _describe verb verbs
                ;;
        argument)
                curcontext=${curcontext%:*:*}:roast-$words[1]:
                case $words[1] in
                show)
                        _arguments $format \
                                '(-t --table)'{-t+,--table=}"[only this table]:table:($tables)" \
                                '(- *)'{-h,--help}'[print help]' \
                                '1:run:_files -g "*.roast(-.)"'
                        ;;
                list)
                        _arguments $format \
                                '(- *)'{-h,--help}'[print help]' \
                                '1:directory:_files -/'
                        ;;
                check)
                        _arguments \
                                '(-q --quiet)'{-q,--quiet}'[answer by the exit code only]' \
                                '(- *)'{-h,--help}'[print help]' \
                                '*:run:_files -g "*.roast(-.)"'
                        ;;
                inspect)
                        _arguments $format \
                                '(-b --branches)'{-b,--branches}'[list the branches]' \
                                '(-r --range)'{-r+,--range=}'[entries START\:STOP]:range:' \
                                '*'{-B+,--branch=}'[branches of the range]:pattern:' \
                                '(- *)'{-h,--help}'[print help]' \
                                '*:file:_files -g "*.root(-.)"'
                        ;;
                metrics)
                        _arguments $format \
                                '(- *)'{-h,--help}'[print help]' \
                                '*:metric:_roast_metric_keys'
                        ;;
                esac
                ;;
        esac
}

_roast "$@"
