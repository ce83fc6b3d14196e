import { SquadError } from '../../model/errors.ts';
import { FOLLOW_KIND, followRecordSchema } from '../../model/forge/follow-record.ts';
import { followOf } from '../../model/forge/follow-settings.ts';
import type { RunDefinition } from '../../model/run.ts';
import type { Forge } from '../../substrate/ports/forge.ts';
import { readHistory } from '../../view/read-run.ts';
import { requestReport } from '../../view/report/report.ts';
import { requestNumber } from '../../text/request-number.ts';
import { viewOf } from '../../view/view-of.ts';
import type { OperationPorts } from '../operations/operation-ports.ts';
import { beginFollow } from '../operations/begin-follow.ts';
import { pushRun } from '../operations/publish-run.ts';
import type { SinkWork } from './sink.ts';

/** An unfinished run is not pushed; people have its branch. */
export const FORGE: SinkWork = {
  publish: async (ports, { finished, branch, now }, { facts: before }) => {
    if (finished?.outcome !== 'done' || before.problem !== undefined) return {};
    if (ports.several !== undefined) return ports.several.publish(before, () => reportOf(ports));
    const facts = await pushRun(asFollowed(ports), branch.head, () => reportOf(ports));
    if (facts.pr !== undefined) follow(ports, facts.pr, { head: branch.head, now });
    return facts;
  },
};

/** A run that is followed since its end pushes to its pull request, which a person may have opened. */
function asFollowed({ forge, definition, ledger, lease }: OperationPorts): Parameters<typeof pushRun>[0] {
  const { remote, settings, state } =
    followRecordSchema.safeParse(ledger.record(FOLLOW_KIND, lease.runId)?.value).data ?? {};
  if (remote === undefined || settings === undefined || state !== 'follows') return { forge, definition };
  const { base } = settings;
  return { forge, definition: { ...definition, publish: { ...definition.publish, remote, base, pr: true } } };
}

function follow(
  ports: OperationPorts,
  url: string,
  { head, now }: { readonly head: string; readonly now: number },
): void {
  const { publish: asked, name } = ports.definition;
  if (asked === undefined || followOf(asked.follow) === undefined) return;
  const number = requestNumber(url);
  if (number === undefined) ports.warn?.('its pull request is not followed: its address has no number');
  else beginFollow(ports, { number, head, name, remote: asked.remote }, now);
}

function reportOf({ ledger, lease }: OperationPorts): string {
  const reading = readHistory(ledger, lease.runId, null);
  return requestReport(reading, viewOf(reading, { now: reading.board.now }));
}

/** Throws if the run could not publish its work, so that a missing remote or login is found before the work starts. */
export async function refuseUnpublishable(
  forge: Forge,
  { publish, name, repository }: Pick<RunDefinition, 'publish' | 'name' | 'repository'>,
): Promise<void> {
  if (publish === undefined) return;
  const { remote, pr, base = repository.branch } = publish;
  if (pr && base === undefined) {
    throw unpublishable(
      'HEAD is detached, so a pull request has no branch to go to',
      'Set publish.base in squad.yaml.',
    );
  }
  // Makes the call that publishing makes later, which needs the program, a login and a repository there.
  const answer = pr ? await forge.findPullRequest({ remote, branch: `squad/${name}` }) : await forge.findRemote(remote);
  if (answer.type === 'refused') throw unpublishable(answer.why, answer.next);
}

function unpublishable(why: string, next = 'Fix it, or take publish out of squad.yaml.'): SquadError {
  return new SquadError({ code: 'wrong-environment', message: `the run could not publish its work: ${why}`, next });
}
