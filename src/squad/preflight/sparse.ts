import type { Composition } from '../../engine/compose.ts';
import type { SquadError } from '../../model/errors.ts';
import { kindAt } from '../../substrate/git/originals/made-paths.ts';
import type { RepositoryReport } from '../../substrate/ports/workspaces.ts';
import { plainLine } from '../../text/plain-text.ts';
import { lineOf, problemError } from './read-input.ts';
import { fileOf, type SettingsRead } from './read-settings.ts';

type Read = Pick<SettingsRead, 'settings' | 'repository' | 'own'>;

/** Throws for a path of `sparse` that is no folder of the commit from which the run begins, and in a checkout that is sparse itself. */
export async function refuseNoFolder(
  git: Composition['git'],
  { commonDirectory, head, sparse }: Pick<RepositoryReport, 'commonDirectory' | 'head' | 'sparse'>,
  read: Read,
): Promise<void> {
  if (sparse) {
    const why = 'this checkout is sparse itself, and folders have what it has';
    throw refusal(read, '', why, 'Take `sparse` out, or give `git sparse-checkout disable`');
  }
  for (const path of read.settings.sparse) {
    const folder = path.replace(/\/$/, '');
    const kind = await kindAt(git, commonDirectory, head, folder);
    if (kind === 'tree') continue;
    const shown = plainLine(folder, 100);
    if (kind === 'blob') {
      const above = folder.includes('/') ? `, such as ${plainLine(folder.slice(0, folder.lastIndexOf('/')), 100)}` : '';
      throw refusal(read, path, `${shown} is a file`, `Name a folder${above}`);
    }
    const why = `the commit ${head.slice(0, 12)} has no folder ${shown}`;
    throw refusal(read, path, why, 'Name one that is tracked, such as `sparse: [packages/web]`');
  }
}

/** At the line that has this text, after `sparse`. */
function refusal(read: Read, text: string, message: string, next: string): SquadError {
  const source = fileOf(read, 'sparse');
  const from = lineOf(source.text, 'sparse');
  const lines = source.text.split('\n').slice(from - 1);
  const line =
    from +
    Math.max(
      0,
      lines.findIndex((one) => one.includes(text)),
    );
  return problemError(
    [{ file: source.file, line, message: `sparse: ${message}` }],
    `${next}, then run the command again.`,
  );
}
