import type { CompletedCommand } from "./command-tree.ts";
import { quoted, spelled, taking, valueBranches, walkBranches } from "./shell-walk.ts";

interface Described {
  readonly name: string;
  readonly description: string;
}

/** For a file _oncehook in zsh's fpath, and to be sourced after compinit. */
export function zshScript(tree: readonly CompletedCommand[]): string {
  const options = tree.map(({ path, options }) => {
    const all = options.flatMap(({ flags, description }) => flags.map((name) => ({ name, description })));
    return `      ${quoted(path)}) list=(${described(all)}) ;;`;
  });
  const commands = tree
    .filter(({ subcommands }) => subcommands.length > 0)
    .map(({ path, subcommands }) => `      ${quoted(`${path}/0`)}) list=(${described(subcommands)}) ;;`);
  const joined = taking(tree).map(
    ({ command, flag, value }) =>
      `      ${quoted(`${command.path}/${flag}=`)}*) value=${quoted(spelled(value))}; compset -P '*=' ;;`,
  );
  return `#compdef oncehook
# zsh completion, written by: oncehook completion zsh
_oncehook() {
  local cur="\${words[CURRENT]}" command='' value='' many='' word
  local -a list
  integer i count=0
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    if [[ -n $value ]]; then
      if [[ -z $many ]]; then value=''; continue; fi
      if [[ $word != -* ]]; then continue; fi
      value=''
    fi
    case "$command/$word" in
${walkBranches(tree)}
    esac
  done
  if [[ $cur == -* && ( -z $value || -n $many ) ]]; then
    value=''
    case "$command/$cur" in
${joined.join("\n")}
    esac
    if [[ -z $value ]]; then case "$command" in
${options.join("\n")}
    esac; fi
  elif [[ -z $value ]]; then
    case "$command/$count" in
${[...commands, valueBranches(tree)].join("\n")}
    esac
  fi
  case "$value" in
    '') _describe 'oncehook' list ;;
    any) return 1 ;;
    file) _files ;;
    folder) _files -/ ;;
    *) compadd -- \${=value} ;;
  esac
}
# As a file of fpath it is run at once; where it is sourced, it is only made known.
if [[ "\${funcstack[1]}" == _oncehook ]]; then _oncehook "$@"; else compdef _oncehook oncehook; fi
`;
}

/** A colon ends the name. */
function described(all: readonly Described[]): string {
  return all
    .map(({ name, description }) => quoted(`${name}:${description.replaceAll(":", "\\:")}`))
    .join(" ");
}
