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
        local -a verbs format exports parts tables
        verbs=(
                'show:show what was measured in a run'
                'explain:tell why a run took as long as it did'
                'predict:tell how long it would take with other workers or chunks'
                'report:write a page that shows a run in a browser'
                'serve:show runs in a browser while they grow'
                'watch:show a run in the terminal while it grows'
                'list:list the runs in a directory'
                'compare:tell what differs between runs, and how sure that is'
                'scaling:tell how throughput grows with cores, over several runs'
                'check:tell whether a run file is whole'
                'inspect:tell what is in ROOT files, and what a chunk takes'
                'export:write a run in another format'
                'import:make a run file of a measurement, or of logs of TaskVine or Parsl'
                'metrics:explain every metric\: unit, formula, source'
        )
        tables=(throughput events resources timing fine chunks failures split ledger bytes datasets sections branches tasks coverage custom files)
        exports=(json jsonl csv markdown openmetrics chrome-trace v1)
        parts=(metrics chunks sections files tasks series)
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
                explain)
                        _arguments \
                                '(-a --all)'{-a,--all}'[also the rules that found nothing]' \
                                '(-f --format)'{-f+,--format=}'[how to print it]:format:(text json markdown)' \
                                '(- *)'{-h,--help}'[print help]' \
                                '1:run:_files -g "*.roast(-.)"'
                        ;;
                predict)
                        _arguments $format \
                                '(-w --workers)'{-w+,--workers=}'[numbers of workers]:numbers:' \
                                '(-c --chunksize)'{-c+,--chunksize=}'[events of a chunk]:events:' \
                                '(-r --fail-rate)'{-r+,--fail-rate=}'[share of attempts that fail]:share:' \
                                '(-d --deadline)'{-d+,--deadline=}'[fewest workers that make it]:time:' \
                                '(-C --cost)'{-C+,--cost=}'[fastest within workers'"'"' time]:time:' \
                                '(- *)'{-h,--help}'[print help]' \
                                '1:run:_files -g "*.roast(-.)"'
                        ;;
                report)
                        _arguments \
                                '(-o --output)'{-o+,--output=}'[the page]:file:_files' \
                                '(- *)'{-h,--help}'[print help]' \
                                '*:run:_files -g "*.roast(-.)"'
                        ;;
                serve)
                        _arguments \
                                '(-a --address)'{-a+,--address=}'[where to listen]:address:' \
                                '(-p --port)'{-p+,--port=}'[its port]:port:' \
                                '(-t --token-file)'{-t+,--token-file=}'[what requests must know]:file:_files' \
                                '*'{-n+,--host=}'[a further name]:name:_hosts' \
                                '(-e --until-eof)'{-e,--until-eof}'[end with standard input]' \
                                '(- *)'{-h,--help}'[print help]' \
                                '1:run or directory:_files'
                        ;;
                watch)
                        _arguments \
                                '(- *)'{-h,--help}'[print help]' \
                                '1:run:_files -g "*.roast(-.)"'
                        ;;
                list)
                        _arguments $format \
                                '(- *)'{-h,--help}'[print help]' \
                                '1:directory:_files -/'
                        ;;
                compare)
                        _arguments $format \
                                '--fail-on=[exit with 1 if something became worse by more percent]:percent:' \
                                '(- *)'{-h,--help}'[print help]' \
                                '*:run:_files -g "*.roast(-.)"'
                        ;;
                scaling)
                        _arguments $format \
                                '(- *)'{-h,--help}'[print help]' \
                                '*:run:_files -g "*.roast(-.)"'
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
                export)
                        _arguments \
                                '(-f --format)'{-f+,--format=}"[the format]:format:($exports)" \
                                '(-w --what)'{-w+,--what=}"[what to write]:part:($parts)" \
                                '(-p --per-worker)'{-p,--per-worker}'[figures of each worker]' \
                                '(-o --output)'{-o+,--output=}'[where to]:file:_files' \
                                '(- *)'{-h,--help}'[print help]' \
                                '1:run:_files -g "*.roast(-.)"'
                        ;;
                import)
                        _arguments \
                                '(-o --output)'{-o+,--output=}'[the run file]:file:_files' \
                                '(- *)'{-h,--help}'[print help]' \
                                '1:source:_files'
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
