import { forgePortsOf } from '../../engine/machine.ts';
import { usageError, wrongEnvironment } from '../../model/errors.ts';
import { FOLLOW_KIND, followRecordSchema, newFollow, type FollowRecord } from '../../model/forge/follow-record.ts';
import type { FollowSettings } from '../../model/forge/follow-settings.ts';
import { makeSecret } from '../../model/secret.ts';
import { createForge } from '../../substrate/git/forge/index.ts';
import { forgePulls } from '../../substrate/git/forge/issues.ts';
import { isNotDone } from '../../substrate/ports/forge-answer.ts';
import { plainLine } from '../../text/plain-text.ts';
import { requestNumber } from '../../text/request-number.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { keepFollow } from './follow-ports.ts';

interface Asked {
  readonly run: { readonly runId: string; readonly name: string; readonly delivered: string };
  readonly remote: string;
  readonly settings: FollowSettings & { readonly merges: boolean };
}

/**
 * Follows the open pull request of a run that is over. Returns what is on record, and its address; one that is followed stays as it is. Throws what a
 * person has to do first.
 */
export async function followLater(
  workspace: OpenedWorkspace,
  { run: { runId: run, name, delivered }, remote, settings }: Asked,
): Promise<{ readonly record: FollowRecord; readonly url: string; readonly isNew: boolean }> {
  const { repository, composition } = workspace;
  const ports = forgePortsOf(workspace);
  const found = await createForge(ports, repository).findPullRequest({ remote, branch: `squad/${name}` });
  if (found.type === 'refused') throw wrongEnvironment(`its pull request was not found: ${found.why}`, found.next);
  const open = `Open one: \`squad pr ${name}\`. Then \`squad pr follow ${name}\`.`;
  if (found.type === 'none') throw usageError(`squad/${name} has no pull request at ${plainLine(remote)}`, open);
  const { url } = found.pullRequest;
  const shown = plainLine(url, 400);
  if (!found.pullRequest.open) throw usageError(`the pull request of ${name} is merged or closed: ${shown}`, open);
  const number = requestNumber(url);
  const forge = await forgePulls(ports, repository, remote);
  if ('type' in forge) throw wrongEnvironment(`its pull request cannot be followed: ${forge.why}`, forge.next);
  const read = number === undefined ? undefined : await forge.read(number);
  if (read === undefined || isNotDone(read))
    throw wrongEnvironment(
      `its pull request cannot be read: ${read === undefined ? shown : read.why}`,
      read?.type === 'refused' ? read.next : `Try again: \`squad pr follow ${name}\`.`,
    );
  const { head, base, isFork } = read.pull;
  if (isFork) throw usageError(`the pull request of ${name} comes from a fork: ${shown}`, open);
  const before = await withLedger(workspace, 'read', (ledger) => ledger.record(FOLLOW_KIND, run)?.value);
  const known = followRecordSchema.safeParse(before).data;
  const isSame = known?.number === read.pull.number && known.remote === remote;
  if (isSame && (known.state === 'follows' || known.state === 'held')) return { record: known, url, isNew: false };
  if (head !== delivered)
    throw usageError(
      `the pull request of ${name} is at ${head.slice(0, 12)}, and the run delivered ${delivered.slice(0, 12)} last`,
      `Push it: \`squad pr ${name}\`. Then \`squad pr follow ${name}\`.`,
    );
  const of = { run, name, number: read.pull.number, remote, head, settings: { ...settings, base } };
  const fresh = newFollow({ ...of, secret: known?.secret ?? makeSecret() }, composition.clock.now());
  const { handled, given, caughtUp, begun } = known ?? fresh;
  // Comments that were answered before are not answered again.
  const record = isSame ? { ...fresh, handled, given, caughtUp, begun } : fresh;
  return { record: await keepFollow(workspace, record), url, isNew: true };
}
