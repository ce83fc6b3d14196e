import { pullRequestText } from '../../model/pull-request-text.ts';
import { type DeliveredRepository, folderOf } from '../../model/repositories.ts';
import type { PublishFacts, RunDefinition } from '../../model/run.ts';
import type { Forge, Refused } from '../../substrate/ports/forge.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { defined } from '../../text/defined.ts';
import { DETACHED } from '../operations/publish-run.ts';

type Published = Pick<PublishFacts, 'remote' | 'pr' | 'problem' | 'repositories'>;

interface Order {
  readonly definition: RunDefinition;
  readonly publish: RunDefinition['publish'];
  readonly delivered: readonly DeliveredRepository[];
  readonly forgeOf: (repository: DeliveredRepository) => Promise<Forge>;
  /** For the end of each pull request's text. */
  readonly report: () => string;
}

interface One {
  readonly of: DeliveredRepository;
  readonly forge: Forge;
  /** The branch that gets the work there; undefined: HEAD was detached. */
  readonly base: string | undefined;
}

/**
 * Pushes the branch of each repository that has one, and opens a pull request for each, which name each other. Nothing is pushed before each
 * remote would take it. Each step may be done already, so that a repetition finishes what a crash has cut short.
 */
export async function publishAll(order: Order): Promise<Published> {
  const { publish, delivered, definition } = order;
  if (publish === undefined) return {};
  const { remote, pr } = publish;
  const branch = `squad/${definition.name}`;
  const all: One[] = [];
  for (const of of delivered) {
    if (of.changed) all.push({ of, forge: await order.forgeOf(of), base: baseOf(order, of) });
  }
  const unready = await findProblem(all, { remote, branch, pr });
  if (unready !== undefined) return { problem: unready };
  for (const [index, { of, forge }] of all.entries()) {
    const pushed = await forge.push({ remote, branch, commit: of.head });
    if (pushed.type === 'refused') {
      const before = all.slice(0, index).map((one) => whereOf(one.of));
      // They stay, so a person has to know of them.
      const also = before.length === 0 ? '' : ` (pushed before: ${before.join(', ')})`;
      return { problem: `${refusalOf(of, branch, remote, pushed)}${also}` };
    }
    failpoint('repositories.pushed');
  }
  const isPushed = ({ name }: DeliveredRepository): boolean => all.some(({ of }) => of.name === name);
  if (!pr) return { remote, repositories: delivered.map((of) => (isPushed(of) ? { ...of, remote } : of)) };
  const opened = await openAll(order, all, { remote, branch });
  if ('problem' in opened) return { remote, problem: opened.problem };
  const { urls } = opened;
  return {
    remote,
    ...defined({ pr: urls.values().next().value }),
    repositories: delivered.map((of) => (isPushed(of) ? { ...of, ...defined({ remote, pr: urls.get(of.name) }) } : of)),
  };
}

function baseOf({ definition, publish }: Order, { name }: DeliveredRepository): string | undefined {
  const { repository, repositories } = definition;
  if (name === '') return publish?.base ?? repository.branch;
  return repositories?.others.find((one) => one.name === name)?.branch;
}

/** Why one of them could not be published; undefined: as far as can be known, all can. */
async function findProblem(
  all: readonly One[],
  { remote, branch, pr }: { readonly remote: string; readonly branch: string; readonly pr: boolean },
): Promise<string | undefined> {
  for (const { of, forge, base } of all) {
    if (pr && base === undefined) return `${whereOf(of)}: ${DETACHED}`;
    const found = pr ? await forge.findPullRequest({ remote, branch }) : undefined;
    if (found?.type === 'refused') return refusalOf(of, branch, remote, found);
    const tried = await forge.push({ remote, branch, commit: of.head, tries: true });
    if (tried.type === 'refused') return refusalOf(of, branch, remote, tried);
  }
  return undefined;
}

type Opened = { readonly urls: ReadonlyMap<string, string> } | { readonly problem: string };

async function openAll(
  { definition, publish, report }: Order,
  all: readonly One[],
  { remote, branch }: { readonly remote: string; readonly branch: string },
): Promise<Opened> {
  const { title, body } = pullRequestText(definition, report());
  const asked = defined({ draft: publish?.draft, reviewers: publish?.reviewers, labels: publish?.labels });
  const urls = new Map<string, string>();
  for (const { of, forge, base = '' } of all) {
    const opened = await forge.openPullRequest({ remote, branch, base, title, body, ...asked });
    if (opened.type !== 'found') return { problem: unopened(of, opened) };
    urls.set(of.name, opened.pullRequest.url);
    failpoint('repositories.opened');
  }
  if (urls.size < 2) return { urls };
  for (const { of, forge } of all) {
    const others = [...urls].flatMap(([name, url]) => (name === of.name ? [] : [`- ${url}`]));
    const text = `Belongs together with these pull requests: merge all of them, or none.\n\n${others.join('\n')}\n\n${body}`;
    const written = await forge.writePullRequest({ remote, branch, body: text });
    if (written.type !== 'found') return { problem: unopened(of, written) };
  }
  return { urls };
}

function whereOf({ name, root }: DeliveredRepository): string {
  return name === '' ? root : folderOf(name);
}

function refusalOf(of: DeliveredRepository, branch: string, remote: string, { why, next }: Refused): string {
  const help = next === undefined ? '' : `. ${next}`;
  return `${branch} of ${whereOf(of)} was not pushed to ${remote}: ${why}${help}`;
}

function unopened(of: DeliveredRepository, answer: { readonly type: 'none' } | Refused): string {
  const why = answer.type === 'refused' ? answer.why : 'the forge shows none';
  return `${whereOf(of)} has no pull request that names the others: ${why}`;
}
