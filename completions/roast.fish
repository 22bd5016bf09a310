# fish completion for roast(1)

set -l verbs show explain predict report serve watch list compare scaling check inspect export import metrics
set -l tables throughput events resources timing fine chunks failures split ledger bytes datasets sections branches tasks coverage custom files

function __roast_metrics
    roast metrics --format csv 2>/dev/null | tail -n +2 | string replace -r ',.*' ''
end

# Files of one kind and directories: fish itself only puts them before the other files.
function __roast_files
    set -l ending (string escape --style=regex -- $argv[1])
    __fish_complete_suffix $argv[1] | string match -er "($ending|/)(\t|"'$)'
end

complete -c roast -f
complete -c roast -n __fish_use_subcommand -s h -l help -d 'print help'
complete -c roast -n __fish_use_subcommand -s V -l version -d 'print the version'

complete -c roast -n __fish_use_subcommand -a show -d 'show what was measured in a run'
complete -c roast -n __fish_use_subcommand -a explain -d 'tell why a run took as long as it did'
complete -c roast -n __fish_use_subcommand -a predict -d 'tell how long it would take with other workers or chunks'
complete -c roast -n __fish_use_subcommand -a report -d 'write a page that shows a run in a browser'
complete -c roast -n __fish_use_subcommand -a serve -d 'show runs in a browser while they grow'
complete -c roast -n __fish_use_subcommand -a watch -d 'show a run in the terminal while it grows'
complete -c roast -n __fish_use_subcommand -a list -d 'list the runs in a directory'
complete -c roast -n __fish_use_subcommand -a compare -d 'tell what differs between runs, and how sure that is'
complete -c roast -n __fish_use_subcommand -a scaling -d 'tell how throughput grows with cores, over several runs'
complete -c roast -n __fish_use_subcommand -a check -d 'tell whether a run file is whole'
complete -c roast -n __fish_use_subcommand -a inspect -d 'tell what is in ROOT files, and what a chunk takes'
complete -c roast -n __fish_use_subcommand -a export -d 'write a run in another format'
complete -c roast -n __fish_use_subcommand -a import -d 'make a run file of a measurement, or of logs of TaskVine or Parsl'
complete -c roast -n __fish_use_subcommand -a metrics -d 'explain every metric: unit, formula, source'

complete -c roast -n "__fish_seen_subcommand_from $verbs" -s h -l help -d 'print help'
complete -c roast -n "__fish_seen_subcommand_from show predict list compare scaling inspect metrics" -s f -l format -x \
    -a 'text json csv markdown' -d 'how to print it'
complete -c roast -n '__fish_seen_subcommand_from explain' -s f -l format -x \
    -a 'text json markdown' -d 'how to print it'
complete -c roast -n '__fish_seen_subcommand_from explain' -s a -l all \
    -d 'also the rules that found nothing'
complete -c roast -n '__fish_seen_subcommand_from explain predict' -a '(__roast_files .roast)'
complete -c roast -n '__fish_seen_subcommand_from predict' -s w -l workers -x -d 'numbers of workers'
complete -c roast -n '__fish_seen_subcommand_from predict' -s c -l chunksize -x -d 'events of a chunk'
complete -c roast -n '__fish_seen_subcommand_from predict' -s r -l fail-rate -x \
    -d 'share of attempts that fail'
complete -c roast -n '__fish_seen_subcommand_from predict' -s d -l deadline -x \
    -d 'fewest workers that make it'
complete -c roast -n '__fish_seen_subcommand_from predict' -s C -l cost -x \
    -d 'fastest within so much time of workers'
complete -c roast -n '__fish_seen_subcommand_from show' -s t -l table -x -a "$tables" \
    -d 'only this table'
complete -c roast -n '__fish_seen_subcommand_from show' -a '(__roast_files .roast)'
complete -c roast -n '__fish_seen_subcommand_from compare' -l fail-on -x \
    -d 'exit with 1 if something became worse by more percent'
complete -c roast -n '__fish_seen_subcommand_from compare scaling' -a '(__roast_files .roast)'
complete -c roast -n '__fish_seen_subcommand_from report' -s o -l output -r -F -d 'the page'
complete -c roast -n '__fish_seen_subcommand_from report' -a '(__roast_files .roast)'
complete -c roast -n '__fish_seen_subcommand_from check' -s q -l quiet \
    -d 'answer by the exit code only'
complete -c roast -n '__fish_seen_subcommand_from check' -a '(__roast_files .roast)'
complete -c roast -n '__fish_seen_subcommand_from list' -a '(__fish_complete_directories)'
complete -c roast -n '__fish_seen_subcommand_from inspect' -s b -l branches -d 'list the branches'
complete -c roast -n '__fish_seen_subcommand_from inspect' -s r -l range -x -d 'entries START:STOP'
complete -c roast -n '__fish_seen_subcommand_from inspect' -s B -l branch -x -d 'branches of the range'
complete -c roast -n '__fish_seen_subcommand_from inspect' -a '(__roast_files .root)'
complete -c roast -n '__fish_seen_subcommand_from export' -s f -l format -x \
    -a 'json jsonl csv markdown openmetrics chrome-trace v1' -d 'the format'
complete -c roast -n '__fish_seen_subcommand_from export' -s w -l what -x \
    -a 'metrics chunks sections files tasks series' -d 'what to write'
complete -c roast -n '__fish_seen_subcommand_from export' -s p -l per-worker \
    -d 'figures of each worker'
complete -c roast -n '__fish_seen_subcommand_from export import' -s o -l output -r -F -d 'where to'
complete -c roast -n '__fish_seen_subcommand_from export' -a '(__roast_files .roast)'
complete -c roast -n '__fish_seen_subcommand_from import' -a '(__roast_files .db)'
complete -c roast -n '__fish_seen_subcommand_from metrics' -a '(__roast_metrics)'
complete -c roast -n '__fish_seen_subcommand_from serve' -s a -l address -x -d 'where to listen'
complete -c roast -n '__fish_seen_subcommand_from serve' -s p -l port -x -d 'its port'
complete -c roast -n '__fish_seen_subcommand_from serve' -s t -l token-file -r -F \
    -d 'what requests must know'
complete -c roast -n '__fish_seen_subcommand_from serve' -s n -l host -x -d 'a further name'
complete -c roast -n '__fish_seen_subcommand_from serve' -s e -l until-eof \
    -d 'end with standard input'
complete -c roast -n '__fish_seen_subcommand_from serve' -a '(__fish_complete_path)'
complete -c roast -n '__fish_seen_subcommand_from watch' -a '(__roast_files .roast)'
