import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../../model/errors.ts';
import type { Discovery } from '../../model/sprint/settings.ts';
import type { Team } from '../../model/sprint/team.ts';
import { namedPaths, type Gathered } from '../../rules/sprint/findings.ts';
import { openRepository } from '../../substrate/git/repository.ts';
import { uncommittedPaths } from '../../substrate/git/uncommitted.ts';
import { openConfined } from '../../substrate/system/files/open-confined.ts';
import { plainLine } from '../../text/plain-text.ts';
import { endOfRun } from '../../view/end-row.ts';
import { summarizeRun } from '../../view/run-summary.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';
import { runDiscovery } from './run-discovery.ts';

/** Older results are no longer news. */
const NEWS_MS = 14 * 86_400_000;
const MOST_FILES = 50;
const MOST_LOG_BYTES = 64 * 1024;
const LOGS = 'logs/agents';

export interface Look {
  readonly folder?: string | undefined;
  readonly discovery: readonly Discovery[];
}

/** Looks everywhere. `problems`: where it could not look, for people; the other places count all the same. */
export async function gather(
  workspace: OpenedWorkspace,
  team: Team,
  look: Look,
): Promise<{ readonly gathered: Gathered; readonly problems: readonly string[] }> {
  const problems: string[] = [];
  const orNone = async <T>(what: string, none: T, work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      problems.push(`${what}: ${plainLine(errorText(error), 300)}`);
      return none;
    }
  };
  const { repository } = workspace;
  const gathered: Gathered = {
    failed: await orNone('results of runs', [], () => failedRuns(workspace)),
    dirty: await orNone('the checkout', [], () => dirtyPaths(workspace)),
    logLines: await orNone('logs', [], () => logLines(repository.root, look.folder)),
    discovery: await orNone('discovery', [], () => runDiscovery(workspace, look.discovery, problems)),
    there: await orNone('paths of blocked items', new Set<string>(), () =>
      pathsThere(repository.root, namedPaths(team)),
    ),
  };
  return { gathered, problems };
}

function failedRuns(workspace: OpenedWorkspace): Gathered['failed'] {
  const { playbooks } = workspace.composition;
  const found = lookIn(workspace, (ledger, lockedBy, now) =>
    ledger.runs().flatMap((row) => {
      const end = endOfRun(ledger, row);
      if (end === undefined || now - end > NEWS_MS) return [];
      const summary = summarizeRun(ledger, row, lockedBy, now, playbooks);
      return summary?.state === 'failed'
        ? [{ run: row.id, name: row.name, headline: summary.headline ?? 'failed' }]
        : [];
    }),
  );
  return found ?? [];
}

async function dirtyPaths({ composition, repository }: OpenedWorkspace): Promise<readonly string[]> {
  return uncommittedPaths(composition.git, await openRepository(composition.git, repository.root));
}

/** The last lines of each log. */
async function logLines(root: string, folder: string | undefined): Promise<Gathered['logLines']> {
  if (folder === undefined) return [];
  const place = join(folder, LOGS);
  const names = await readdir(join(root, place)).catch(() => []);
  const logs = names
    .filter((name) => name.endsWith('.log'))
    .toSorted()
    .slice(0, MOST_FILES);
  const read = logs.map(async (name) => {
    const text = await lastText(root, join(place, name));
    return text.split('\n').map((line) => ({ file: name, line: plainLine(line, 1_000) }));
  });
  return (await Promise.all(read)).flat();
}

async function lastText(root: string, path: string): Promise<string> {
  const opened = await openConfined(root, path).catch(() => undefined);
  if (opened?.type !== 'opened') return '';
  try {
    const { size } = await opened.file.stat();
    const from = Math.max(0, size - MOST_LOG_BYTES);
    const buffer = Buffer.alloc(Math.min(size, MOST_LOG_BYTES));
    const { bytesRead } = await opened.file.read(buffer, 0, buffer.length, from);
    const text = buffer.toString('utf8', 0, bytesRead);
    // The first line may be a part of one.
    return from === 0 ? text : text.slice(text.indexOf('\n') + 1);
  } finally {
    await opened.file.close();
  }
}

async function pathsThere(root: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await Promise.all(
    paths.map(async (path) => ((await lstat(join(root, path)).catch(() => undefined)) === undefined ? [] : [path])),
  );
  return new Set(found.flat());
}
