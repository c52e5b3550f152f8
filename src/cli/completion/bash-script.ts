import type { CompletedCommand } from "./command-tree.ts";
import { quoted, valueBranches, walkBranches } from "./shell-walk.ts";

/** For bash from 3.2 on, and without the package bash-completion, which not every machine has. */
export function bashScript(tree: readonly CompletedCommand[]): string {
  const words = (list: readonly string[]) => quoted(list.join(" "));
  const options = tree.map(
    ({ path, options }) => `      ${quoted(path)}) value=${words(options.flatMap(({ flags }) => flags))} ;;`,
  );
  const commands = tree
    .filter(({ subcommands }) => subcommands.length > 0)
    .map(
      ({ path, subcommands }) =>
        `      ${quoted(`${path}/0`)}) value=${words(subcommands.map(({ name }) => name))} ;;`,
    );
  return `# bash completion, written by: oncehook completion bash
_oncehook() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" command='' value='' many='' word i count=0
  local IFS=$' \\t\\n'
  COMPREPLY=()
  # bash takes --option=value for three words.
  if [[ $cur == '=' ]]; then cur=''; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -n $value ]]; then
      if [[ $word == '=' ]]; then continue; fi
      if [[ -z $many ]]; then value=''; continue; fi
      if [[ $word != -* ]]; then continue; fi
      value=''
    fi
    case "$command/$word" in
${walkBranches(tree)}
    esac
  done
  if [[ $cur == -* && ( -z $value || -n $many ) ]]; then
    case "$command" in
${options.join("\n")}
    esac
  elif [[ -z $value ]]; then
    case "$command/$count" in
${[...commands, valueBranches(tree)].join("\n")}
    esac
  fi
  case "$value" in
    '' | any) ;;
    # The shell's own completion knows about spaces and the home folder; it is asked for where bash can.
    file) compopt -o default 2>/dev/null || { IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur")); } ;;
    folder) compopt -o dirnames 2>/dev/null || { IFS=$'\\n'; COMPREPLY=($(compgen -d -- "$cur")); } ;;
    *) COMPREPLY=($(compgen -W "$value" -- "$cur")) ;;
  esac
}
complete -F _oncehook oncehook
`;
}
