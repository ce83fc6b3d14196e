/**
 * Options before every git command of the engine (bar S6): nothing that a repository or an agent can configure may run a
 * program. `filter.*` and `merge.*.driver` cannot be switched off this way: where agents' files are read, checked
 * out or merged, `neutral-settings.ts` overrides them by name.
 */
export function hardenedArguments(emptyHooksPath: string): readonly string[] {
  const settings = [
    `core.hooksPath=${emptyHooksPath}`,
    'core.fsmonitor=false',
    'core.pager=cat',
    'core.editor=true',
    'core.sshCommand=false',
    'core.askPass=',
    'credential.helper=',
    'commit.gpgsign=false',
    'tag.gpgsign=false',
    'diff.external=',
    'gc.auto=0',
    'maintenance.auto=false',
    'protocol.ext.allow=never',
    'protocol.file.allow=user',
    'submodule.recurse=false',
    'advice.detachedHead=false',
  ];
  return settings.flatMap((setting) => ['-c', setting]);
}

/** git's own environment: no prompt, no pager, no optional locks; and no `GIT_*` of the host leaks in. */
export function gitEnvironment(host: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'XDG_CONFIG_HOME'].flatMap((name) => {
    const value = host[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(kept),
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'true',
  };
}
