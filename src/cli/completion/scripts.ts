/*
 * Each asks `squad complete` for whole words, and takes its lines as words: no shell expands them. Where there is no word, it
 * completes the names of files.
 */
export const SCRIPTS: Readonly<Record<'bash' | 'zsh' | 'fish', string>> = {
  bash: `# Completion of squad for bash. To install: squad completion bash >> ~/.bashrc
_squad() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(
    squad complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null
  )
}
complete -o bashdefault -o default -F _squad squad`,
  zsh: `# Completion of squad for zsh. To install: squad completion zsh >> ~/.zshrc
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_squad() {
  local -a found
  found=("\${(@f)$(squad complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  if (( $#found )); then compadd -- $found; else _files; fi
}
compdef _squad squad`,
  fish: `# Completion of squad for fish. To install: squad completion fish > ~/.config/fish/completions/squad.fish
function __squad_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (squad complete -- $words[2..-1] 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c squad -f -a '(__squad_complete)'`,
};
