import type { PublishFacts } from '../model/run.ts';
import { findTampering } from './open-place.ts';
import { readBaseline, type OperationPorts } from './operation-ports.ts';

/** The run branch on the remote, and its pull request, where that was asked for. What stands in the way is a problem for a person. */
export async function pushRun(
  ports: OperationPorts,
  head: string,
): Promise<Pick<PublishFacts, 'remote' | 'pr' | 'problem'>> {
  const { forge, definition } = ports;
  const { publish, repository, objective, name } = definition;
  if (publish === undefined) return {};
  const { remote } = publish;
  const branch = `squad/${name}`;
  const barred = await findForeignRemote(ports, remote);
  if (barred !== undefined) return { problem: `${branch} was not pushed: ${barred}` };
  const pushed = await forge.push({ remote, branch, commit: head });
  if (pushed.type === 'refused') return { problem: `${branch} was not pushed to ${remote}: ${pushed.why}` };
  if (!publish.pr) return { remote };
  const base = publish.base ?? repository.branch;
  if (base === undefined) return { remote, problem: 'HEAD was detached: set publish.base in squad.yaml' };
  const opened = await forge.openPullRequest({ remote, branch, base, title: objective.title, body: objective.text });
  if (opened.type === 'found') return { remote, pr: opened.pullRequest.url };
  return { remote, problem: `no pull request was opened: ${opened.type === 'refused' ? opened.why : 'there is none'}` };
}

/**
 * Why nothing may be sent to a remote: git's configuration, or where the remote leads, is not as it was before any agent ran.
 * To push is to run what that configuration says, with the user's own rights. undefined: nothing is in the way.
 */
export async function findForeignRemote(ports: OperationPorts, remote: string): Promise<string | undefined> {
  const tampered = await findTampering(ports);
  const baseline = readBaseline(ports);
  if (tampered !== undefined || baseline === undefined) return tampered;
  const answer = await ports.workspaces.checkRemote(baseline, remote);
  if (answer.type === 'unchanged') return undefined;
  const keys = answer.changes.map(({ file, problem }) => `${file} (${problem})`).join(', ');
  return `the remote ${remote} does not lead where it led when the run began: ${keys}. Look at \`git remote -v\`, and push it yourself if that is right`;
}

/** Why the run branch must not be pushed: somebody else moved it, so squad has not checked its commit. */
export function findForeignHead(head: string, delivered: string): string | undefined {
  if (head === delivered) return undefined;
  return `it is at ${head.slice(0, 12)}, and the run delivered ${delivered.slice(0, 12)} last. Compare the two, and push the branch yourself if it is right`;
}
