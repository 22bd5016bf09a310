# shellcheck shell=bash
# bash completion for roast(1); needs nothing of the bash-completion package.

# Fills COMPREPLY with those of the words that begin with what was typed.
_roast_words() {
        mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# Fills COMPREPLY with directories and, where a pattern is given, files that match it.
_roast_files() {
        compopt -o filenames
        mapfile -t COMPREPLY < <(
                [[ -z $2 ]] || compgen -f -X "!$2" -- "$1"
                compgen -d -- "$1"
        )
}

_roast_metrics() {
        "$1" metrics --format csv 2>/dev/null | tail -n +2 | cut -d, -f1
}

_roast() {
        local verbs='show explain predict report serve watch list compare scaling check inspect export import metrics'
        local formats='text json csv markdown'
        local tables='throughput events resources timing fine chunks failures split ledger bytes datasets sections branches tasks coverage custom files'
        local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}

        # bash makes three words of --format=json
        if [[ $cur == '=' ]]; then
                cur=''
        elif [[ $prev == '=' ]]; then
                prev=${COMP_WORDS[COMP_CWORD - 2]}
        fi

        COMPREPLY=()
        if ((COMP_CWORD == 1)); then
                if [[ $cur == -* ]]; then
                        _roast_words '--help --version' "$cur"
                else
                        _roast_words "$verbs" "$cur"
                fi
                return
        fi
        if [[ ${COMP_WORDS[1]} == export ]]; then
                formats='json jsonl csv markdown openmetrics chrome-trace v1'
        fi
        case ${COMP_WORDS[1]}:$prev in
        *:-f | *:--format)
                [[ ${COMP_WORDS[1]} != explain ]] || formats='text json markdown'
                _roast_words "$formats" "$cur"
                return
                ;;
        export:-w | export:--what)
                _roast_words 'metrics chunks sections files tasks series' "$cur"
                return
                ;;
        *:-o | *:--output | serve:-t | serve:--token-file)
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                return
                ;;
        show:-t | show:--table)
                _roast_words "$tables" "$cur"
                return
                ;;
        esac
        case ${COMP_WORDS[1]}:$cur in
        inspect:-*) _roast_words '--branches --range --branch --format --help' "$cur" ;;
        check:-*) _roast_words '--quiet --help' "$cur" ;;
        explain:-*) _roast_words '--all --format --help' "$cur" ;;
        predict:-*)
                _roast_words '--workers --chunksize --fail-rate --deadline --cost --format --help' \
                        "$cur"
                ;;
        export:-*) _roast_words '--format --what --per-worker --output --help' "$cur" ;;
        import:-*) _roast_words '--output --help' "$cur" ;;
        show:-*) _roast_words '--format --table --help' "$cur" ;;
        compare:-*) _roast_words '--fail-on --format --help' "$cur" ;;
        report:-*) _roast_words '--output --help' "$cur" ;;
        watch:-*) _roast_words '--help' "$cur" ;;
        serve:-*) _roast_words '--address --port --token-file --host --until-eof --help' "$cur" ;;
        list:-* | metrics:-* | scaling:-*) _roast_words '--format --help' "$cur" ;;
        show:* | watch:* | report:* | check:* | export:* | compare:* | scaling:* | explain:* | predict:* | serve:*) _roast_files "$cur" '*.roast' ;;
        list:*) _roast_files "$cur" '' ;;
        import:*) _roast_files "$cur" '*.db' ;;
        inspect:*) _roast_files "$cur" '*.root' ;;
        metrics:*) _roast_words "$(_roast_metrics "${COMP_WORDS[0]}")" "$cur" ;;
        esac
}

complete -F _roast roast
