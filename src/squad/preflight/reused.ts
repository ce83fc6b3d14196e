import { pathsOf } from '../../model/setup-step.ts';
import type { Playbooks } from '../../model/plan.ts';
import type { SquadError } from '../../model/errors.ts';
import { namedInRepository } from '../../substrate/git/originals/made-paths.ts';
import type { Composition } from '../../engine/compose.ts';
import type { RepositoryReport } from '../../substrate/ports/workspaces.ts';
import { lineOf, problemError } from './read-input.ts';
import { fileOf, type SettingsRead } from './read-settings.ts';

/**
 * Throws for a step of `setup` whose folders git tracks, whose files are not in the commit that the run begins from, or that names a role
 * which no playbook has.
 */
export async function refuseUnreusable(
  git: Composition['git'],
  { commonDirectory, head }: Pick<RepositoryReport, 'commonDirectory' | 'head'>,
  read: Pick<SettingsRead, 'settings' | 'repository' | 'own'>,
  playbooks: Playbooks,
): Promise<void> {
  for (const { reuse, when, for: roles = [] } of read.settings.setup) {
    const stranger = roles.find((role) => !rolesIn(read, playbooks).has(role));
    if (stranger !== undefined) {
      throw refusal(read, stranger, `no agent has the role ${stranger}`, 'Write a role of `agents`, such as reviewer');
    }
    if (reuse === undefined) continue;
    const names = { when: pathsOf(when), reuse: pathsOf(reuse) };
    const { tracked } = await namedInRepository(git, commonDirectory, head, names);
    if (tracked !== undefined) {
      const path = names.reuse.find((one) => one.toLowerCase() === tracked.toLowerCase()) ?? names.reuse[0] ?? '';
      const why = `\`reuse\` names ${path}, and git tracks ${tracked}: each folder has it already`;
      throw refusal(read, path, why, `Take it out of \`reuse\`, or \`git rm -r --cached ${tracked}\` and commit`);
    }
    for (const path of names.when) {
      const { when: found } = await namedInRepository(git, commonDirectory, head, { when: [path], reuse: [] });
      if (found.length > 0) continue;
      const why = `\`when\` names ${path}, which the commit ${head.slice(0, 12)} does not have`;
      throw refusal(read, path, why, 'Commit the file, or name one that is tracked');
    }
  }
}

/** The roles of agents that the settings name, and of every playbook. */
function rolesIn({ settings: { agents = [] } }: Pick<SettingsRead, 'settings'>, playbooks: Playbooks): Set<string> {
  const all = Object.values(playbooks).flatMap((make) => Object.keys(make().roles));
  return new Set([...all, ...agents.map(({ role }) => role)]);
}

/** At the line that has this text, after `setup`. */
function refusal(
  read: Pick<SettingsRead, 'settings' | 'repository' | 'own'>,
  text: string,
  message: string,
  next: string,
): SquadError {
  const source = fileOf(read, 'setup');
  const from = lineOf(source.text, 'setup');
  const at = source.text
    .split('\n')
    .slice(from - 1)
    .findIndex((line) => line.includes(text));
  const line = from + Math.max(0, at);
  return problemError(
    [{ file: source.file, line, message: `setup: ${message}` }],
    `${next}, then run the command again.`,
  );
}
