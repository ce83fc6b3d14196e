import type { Composition } from '../../engine/compose.ts';
import { usageError, wrongEnvironment } from '../../model/errors.ts';
import { beginAt, remoteOf } from '../../substrate/git/begin-at.ts';
import type { Begin } from '../../substrate/git/inspect-repository.ts';
import type { Forge } from '../../substrate/ports/forge.ts';
import { plainLine } from '../../text/plain-text.ts';

/** Choices of where a run begins. */
export interface BeginningChoice {
  readonly base?: string | undefined;
  readonly fetch?: boolean | undefined;
}

const REMOTE = 'origin';

/** Finds the commit that a person named, and fetches its remote before if they asked for that. Throws `usage` for a fetch for nothing. */
export function beginningOf(
  ports: Pick<Composition, 'git' | 'forge'>,
  { base, fetch = false, dryRun = false }: BeginningChoice & { readonly dryRun?: boolean | undefined },
): Begin {
  if (base === undefined) {
    throw usageError(
      'without --base, a run begins at the commit that is checked out, so --fetch would change nothing',
      'Name what it begins from: `--base origin/main --fetch`.',
    );
  }
  return async (opened) => {
    const forge = ports.forge(opened);
    const remotes = await forge.remotes();
    if (fetch && !dryRun) await fetchFor(forge, base, remotes);
    return beginAt(ports.git, opened, { from: base, remotes });
  };
}

async function fetchFor(forge: Pick<Forge, 'fetch'>, base: string, remotes: readonly string[]): Promise<void> {
  const remote = remoteOf(base, remotes) ?? (remotes.length === 1 ? remotes[0] : undefined) ?? REMOTE;
  const answer = await forge.fetch(remote);
  if (answer.type === 'found') return;
  throw wrongEnvironment(
    `nothing was started: ${answer.why}`,
    `${answer.next ?? ''} Without --fetch, the run begins from ${plainLine(base, 100)} as it is here.`.trim(),
  );
}
