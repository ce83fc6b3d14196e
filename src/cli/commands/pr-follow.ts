import { usageError } from '../../model/errors.ts';
import { followOf, followSchema } from '../../model/forge/follow-settings.ts';
import { followLater } from '../../squad/forge/follow-later.ts';
import { bindWorkspace, lookIn, openWorkspace } from '../../squad/open-workspace.ts';
import { openView } from '../../squad/read-view.ts';
import { agreeToRun } from '../../squad/run-consent.ts';
import { findService } from '../../squad/service/service-lock.ts';
import { defined } from '../../text/defined.ts';
import { plainLine } from '../../text/plain-text.ts';
import { readHistory } from '../../view/read-run.ts';
import type { Given } from '../../text/flags.ts';
import type { CommandContext } from '../command-context.ts';
import { trustOf } from '../consent.ts';
import { headOf, movedBranch, requireDone, withoutBranch } from '../delivered-work.ts';
import type { FOLLOW_FLAGS } from '../flags.ts';
import { printResult } from '../output.ts';

/** Follows the pull request of a run that has ended, as `publish.follow` would have. The service does the rest. */
export async function prFollow(
  context: CommandContext,
  run: string | undefined,
  options: Given<typeof FOLLOW_FLAGS>,
): Promise<void> {
  const workspace = bindWorkspace(await openWorkspace(context));
  const target = await openView(workspace, run);
  const { view } = target;
  const { runId, name } = view.run;
  const { playbooks } = workspace.composition;
  const reading = lookIn(workspace, (ledger) => readHistory(ledger, runId, null, playbooks));
  if (view.run.delivers === null || reading === undefined) throw withoutBranch(view);
  const { repositories, publish } = reading.definition;
  if (repositories !== undefined)
    throw usageError(
      `${name} works on several repositories, and squad follows the pull request of one`,
      `Open theirs with \`squad pr ${name}\`, and see them on their forge.`,
    );
  requireDone(view, `or push what it has: \`squad pr ${name}\``);
  const anyway = `then \`squad pr follow ${name}\` again`;
  const head = await headOf(target);
  if (head !== view.plan.delivered) throw movedBranch(view, head, anyway);
  const settings = settingsOf(options, followOf(publish?.follow) ?? followSchema.parse({}));
  await agreeToRun(workspace, runId, trustOf(context, options), AGREE);
  const remote = options.remote ?? publish?.remote ?? 'origin';
  const { record, url, isNew } = await followLater(workspace, {
    run: { runId, name, delivered: head },
    ...{ remote, settings: { ...settings, merges: (options.merge ?? publish?.merge) === 'when-approved' } },
  });
  const { number, state, why, rounds } = record;
  const serves = findService(workspace.directory) !== null;
  const shown = plainLine(url, 400);
  printResult(context.output, options, { ...FOLLOWED, runId, name, number, url, isNew, state, why, rounds, serves }, [
    isNew ? `followed  ${shown}` : `followed  ${shown} since before, after ${rounds} rounds${why && `: ${why}`}`,
    serves ? '`squad serve` looks at it within ten minutes.' : 'Next: squad serve',
  ]);
}

const AGREE =
  'No person has agreed to this run on this machine. Read what it does, then give the command again with `--yes`.';

const FOLLOWED = { type: 'pull-request-followed' } as const;

function settingsOf({ days, rounds }: Given<typeof FOLLOW_FLAGS>, otherwise: ReturnType<typeof followSchema.parse>) {
  const read = followSchema.safeParse({ ...otherwise, ...defined({ days, rounds }) });
  if (read.success) return read.data;
  const [problem] = read.error.issues;
  throw usageError(
    `--${String(problem?.path[0])}: ${problem?.message ?? 'is not a number that it can be'}`,
    'Days can be 90 at most, and rounds 50.',
  );
}
