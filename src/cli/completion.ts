import { Argument, Command, type Option } from "commander";
import { BUILT_IN_TYPES } from "../config/index.ts";

const INSTALLING = `
Where it goes:
  bash   echo 'source <(oncehook completion bash)' >> ~/.bashrc
  zsh    echo 'source <(oncehook completion zsh)' >> ~/.zshrc     (after compinit)
  fish   oncehook completion fish > ~/.config/fish/completions/oncehook.fish`;

export function completionCommand(): Command {
  return new Command("completion")
    .description("Print a script that completes commands, options and their values at the tab key.")
    .addArgument(new Argument("<shell>", "the shell it is for").choices(Object.keys(TEMPLATES)))
    .addHelpText("after", INSTALLING)
    .action((shell: keyof typeof TEMPLATES, _options: object, command: Command) => {
      const rows = [...rowsOf(command.parent ?? command, "")];
      process.stdout.write(TEMPLATES[shell](rows.map((row) => row.join("|")).join("\n")));
    });
}

/**
 * What can follow a command, such as "oauth state"; the program itself is "".
 * - a subcommand has the kind `:`, a switch `-`
 * - an option with a value has the value's kind, and `*` before it if it takes several
 * - the argument at place n is the word `#n`
 * A value's kind is `file`, `folder`, `any`, or the words that it can be.
 */
type Row = readonly [command: string, word: string, kind: string, description: string];

function* rowsOf(command: Command, path: string): Generator<Row> {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  for (const one of subcommands) yield [path, one.name(), ":", firstSentence(one.description())];
  for (const option of help.visibleOptions(command)) {
    const flags = [option.short, option.long].filter((flag) => flag !== undefined);
    for (const flag of flags) yield [path, flag, optionKind(option), firstSentence(option.description)];
  }
  const values =
    command.name() === "help" ? [siblings(command)] : command.registeredArguments.map(argumentKind);
  for (const [index, kind] of values.entries()) yield [path, `#${index}`, kind, ""];
  for (const one of subcommands) {
    // Commander creates `help` on demand, without a parent.
    one.parent ??= command;
    yield* rowsOf(one, `${path} ${one.name()}`.trim());
  }
}

function siblings({ parent }: Command): string {
  return parent === null ? "any" : parent.commands.map((one) => one.name()).join(" ");
}

function optionKind({ required, optional, variadic, argChoices, flags }: Option): string {
  if (!required && !optional) return "-";
  const [, placeholder = ""] = /[<[]([\w-]+)/.exec(flags) ?? [];
  return `${variadic ? "*" : ""}${argChoices?.join(" ") ?? kindOf(placeholder)}`;
}

function argumentKind(argument: Argument): string {
  // Other event types may be sent as well; these have sample data.
  if (argument.name() === "type") return BUILT_IN_TYPES.join(" ");
  return argument.argChoices?.join(" ") ?? kindOf(argument.name());
}

function kindOf(name: string): string {
  return name === "file" || name === "folder" ? name : "any";
}

/** Shells show one line for each; `|` separates the columns. */
function firstSentence(text: string): string {
  return (text.split(/[.;:] |\.$/, 1)[0] ?? "").replaceAll("|", "/");
}

/** In single quotes; only the quote itself needs care, and in fish the backslash. */
const quoted = (table: string) => `'\n${table.replaceAll("'", "'\\''")}\n'`;
const quotedForFish = (table: string) => `'${table.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

const kindFunction = (table: string) => `_oncehook_table=${quoted(table)}
_oncehook_kind() {
  kind="\${_oncehook_table#*$'\\n'"$1|$2|"}"
  if [[ $kind == "$_oncehook_table" ]]; then kind=''; else kind="\${kind%%|*}"; fi
}`;

/** bash and zsh: from a word's place in the table to \`value\`, a kind, or \`list\`, "word:description" each. */
const WALK = `    if [[ -n $value ]]; then
      # bash takes --option=value for three words.
      if [[ $word == '=' ]]; then continue; fi
      if [[ $value != '*'* ]]; then value=''; continue; fi
      if [[ $word != -* ]]; then continue; fi
      value=''
    fi
    _oncehook_kind "$command" "$word"
    case "$kind" in
      ':') command="\${command:+$command }$word"; count=0 ;;
      '-') ;;
      '') if [[ $word != -* ]]; then count=$((count + 1)); fi ;;
      *) value="$kind" ;;
    esac
  done
  if [[ $cur == -* && ( -z $value || $value == '*'* ) ]]; then
    wanted='-'; value=''
  elif [[ -z $value ]]; then
    _oncehook_kind "$command" "#$count"
    value="$kind"
    if [[ -z $value && $count == 0 ]]; then wanted=':'; fi
  fi
  value="\${value#'*'}"
  if [[ -n $wanted ]]; then
    while IFS='|' read -r path_ word kind description; do
      if [[ $path_ != "$command" || ( $wanted == ':' && $kind != ':' ) || ( $wanted == '-' && $word != -* ) ]]; then continue; fi
      list+=("$word:$description")
    done <<< "$_oncehook_table"
  fi`;

const LOCALS = "command='' value='' wanted='' kind='' count=0 word path_ description";

const header = (shell: string) => `# ${shell} completion, written by: oncehook completion ${shell}`;

/** For bash from 3.2 on, without the package bash-completion. */
const bash = (table: string) => `${header("bash")}
${kindFunction(table)}
_oncehook() {
  local IFS=$' \\t\\n' cur="\${COMP_WORDS[COMP_CWORD]}" i ${LOCALS}
  local -a list=()
  COMPREPLY=()
  if [[ $cur == '=' ]]; then cur=''; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
${WALK}
  if [[ -n $wanted && \${#list[@]} -gt 0 ]]; then value="\${list[*]%%:*}"; fi
  case "$value" in
    '' | any) ;;
    # The shell's own completion knows about spaces and the home folder, where bash has compopt.
    file) compopt -o default 2>/dev/null || { IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur")); } ;;
    folder) compopt -o dirnames 2>/dev/null || { IFS=$'\\n'; COMPREPLY=($(compgen -d -- "$cur")); } ;;
    *) COMPREPLY=($(compgen -W "$value" -- "$cur")) ;;
  esac
}
complete -F _oncehook oncehook
`;

/** For a file _oncehook in zsh's fpath, and to be sourced after compinit. */
const zsh = (table: string) => `#compdef oncehook
${header("zsh")}
${kindFunction(table)}
_oncehook() {
  local cur="\${words[CURRENT]}" ${LOCALS}
  local -a list
  integer i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
${WALK}
  if [[ $cur == -*=* ]]; then
    _oncehook_kind "$command" "\${cur%%=*}"
    if [[ -n $kind && $kind != '-' ]]; then value="\${kind#'*'}"; wanted=''; compset -P '*='; fi
  fi
  case "$value" in
    '') _describe 'oncehook' list ;;
    any) return 1 ;;
    file) _files ;;
    folder) _files -/ ;;
    *) compadd -- \${=value} ;;
  esac
}
# A file of fpath runs at once; a sourced one is only registered.
if [[ "\${funcstack[1]}" == _oncehook ]]; then _oncehook "$@"; else compdef _oncehook oncehook; fi
`;

const fish = (table: string) => `${header("fish")}
set -g __oncehook_table (string split \\n -- ${quotedForFish(table)})
function __oncehook_kind
    string replace -rf -- '^'(string escape --style=regex -- "$argv[1]|$argv[2]|")'([^|]*).*$' '$1' $__oncehook_table
end
function __oncehook_rows
    set -l start '^'(string escape --style=regex -- "$argv[1]|")
    string replace -rf -- "$start$argv[2]\\|(.*)\\$" '$1\\t$2' $__oncehook_table
end
function __oncehook
    set -l command ''
    set -l value ''
    set -l count 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test -n "$value"
            if not string match -q -- '\\**' $value
                set value ''
                continue
            end
            string match -q -- '-*' $word; or continue
            set value ''
        end
        set -l kind (__oncehook_kind "$command" $word)
        switch "$kind"
            case ':'
                set command (string trim -- "$command $word")
                set count 0
            case '-'
            case ''
                string match -q -- '-*' $word; or set count (math $count + 1)
            case '*'
                set value $kind
        end
    end
    set -l current (commandline -ct)
    set -l prefix ''
    if string match -q -- '-*=*' $current
        set prefix (string replace -r -- '=.*' '=' $current)
        set value (__oncehook_kind "$command" (string replace -r -- '=.*' '' $current))
    else if string match -q -- '-*' $current; and string match -qr -- '^(\\*|$)' "$value"
        __oncehook_rows "$command" '(-[^|]*)\\|[^|]*'
        return
    else if test -z "$value"
        set value (__oncehook_kind "$command" "#$count")
        if test -z "$value" -a $count = 0
            __oncehook_rows "$command" '([^|]*)\\|:'
            return
        end
    end
    switch (string replace -- '*' '' "$value")
        case '' any -
        case file
            __fish_complete_path (string replace -- "$prefix" '' $current)
        case folder
            __fish_complete_directories (string replace -- "$prefix" '' $current)
        case '*'
            printf "$prefix%s\\n" (string split ' ' -- $value)
    end
end
complete -c oncehook -f -a '(__oncehook)'
`;

const TEMPLATES = { bash, zsh, fish };
