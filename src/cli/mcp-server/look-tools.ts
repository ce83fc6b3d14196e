import { z } from 'zod';
import { waitForChange } from '../../squad/wait-for-change.ts';
import { listRuns } from '../../squad/runs.ts';
import { defined } from '../../text/defined.ts';
import { counted } from '../../text/counted.ts';
import { renderRuns } from '../render/runs-table.ts';
import { renderStatus } from '../render/status-board.ts';
import { PLAIN } from '../render/style.ts';
import { captured } from './captured-command.ts';
import { defineRunTool, RUN, type RunTool } from './run-tool.ts';
import { nextStep, shownStatus, shownStatusSchema } from './shown-status.ts';

/** Clients give up after a minute. */
const MOST_SECONDS = 55;
const MOST_RUNS = 20;
const MOST_TEXT = 12_000;
/** Characters of one page of a patch. */
const PAGE = 40_000;
/** A client that asked for progress hears that often. */
const PROGRESS_MS = 5_000;

const LOOKS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false } as const;

/** Tools that change nothing. */
export const LOOK_TOOLS: readonly RunTool[] = [
  defineRunTool({
    name: 'run_status',
    title: 'Status of a run',
    description:
      'Say how a run stands: its tasks, its questions and what it waits for. With wait_seconds it waits until something changes, ' +
      'the run asks something or it is over.',
    hints: LOOKS,
    input: z.strictObject({
      run: RUN,
      wait_seconds: z
        .number()
        .min(0)
        .max(MOST_SECONDS)
        .default(0)
        .describe(`At most ${MOST_SECONDS}. Default: do not wait.`),
    }),
    output: shownStatusSchema,
    run: async ({ command: { host } }, { run, wait_seconds: seconds }, { signal, progress }) => {
      let due = 0;
      const { status, damage, changed } = await waitForChange({ host }, run, {
        ms: seconds * 1000,
        signal,
        onLook: (passed, { name, phase }) => {
          if (progress === undefined || passed < due) return;
          due = passed + PROGRESS_MS;
          progress(passed / 1000, seconds, `${name} is ${phase}`);
        },
      });
      if (damage !== undefined) throw damage;
      const found = shownStatus(status, changed);
      return { text: `${renderStatus(status, Date.now()).slice(0, MOST_TEXT)}\n\n${nextStep(found)}`, found };
    },
  }),
  defineRunTool({
    name: 'list_runs',
    title: 'Runs of this repository',
    description: 'List the runs of this repository, the newest first.',
    hints: LOOKS,
    input: z.strictObject({}),
    output: z.strictObject({
      runs: z.array(
        z.strictObject({
          run: z.string(),
          state: z.string(),
          objective: z.string(),
          headline: z.string().nullable(),
          waits_for: z.string().nullable(),
        }),
      ),
      more: z.int().describe('Older runs that are not listed.'),
    }),
    run: async ({ command: { host } }) => {
      const all = await listRuns({ host });
      const shown = all.slice(0, MOST_RUNS);
      return {
        text: renderRuns(shown, { now: Date.now(), columns: undefined, style: PLAIN }).join('\n'),
        found: {
          runs: shown.map(({ name, state, objective, headline, why }) => ({
            run: name,
            ...{ state, objective, headline, waits_for: why },
          })),
          more: all.length - shown.length,
        },
      };
    },
  }),
  defineRunTool({
    name: 'show_plan',
    title: 'Plan of a run',
    description: 'Show the plan of a run: its tasks, who does them, the success criteria, commands and limits.',
    hints: LOOKS,
    input: z.strictObject({ run: RUN }),
    output: z.strictObject({
      run: z.string(),
      question: z.string().nullable().describe('The question that asks about this plan and is open; null: none is.'),
      plan: z
        .record(z.string(), z.unknown())
        .describe('summary, tasks, criteria, commands, limits, and what has changed.'),
    }),
    run: async ({ command }, { run }) => {
      const { showPlan } = await import('../commands/show-plan.ts');
      const { lines } = await captured(command, async (inner) => showPlan(inner, defined({ run, pager: false })));
      const { objects } = await captured(command, async (inner) => showPlan(inner, defined({ run, json: true })));
      const { name, question, plan } = planSchema.parse(objects[0]);
      const open = question !== null && question.answer === null ? question.id : null;
      return { text: lines.join('\n').slice(0, PAGE), found: { run: name, question: open, plan } };
    },
  }),
  defineRunTool({
    name: 'run_diff',
    title: 'Work of a run',
    description: 'Show what a run has delivered, or what one of its tasks did, as a patch. Nothing is merged.',
    hints: LOOKS,
    input: z.strictObject({
      run: RUN,
      task: z.string().max(200).exactOptional().describe('Only this task. Default: all that was delivered.'),
      files_only: z.boolean().default(false).describe('List the changed files, without the patch.'),
      offset: z.int().nonnegative().default(0).describe('Start the patch at this character.'),
    }),
    output: z.strictObject({
      run: z.string(),
      from: z.string().describe('The commit that the work began at.'),
      to: z.string().describe('The commit that has it.'),
      files: z.array(z.looseObject({ path: z.string() })),
      patch: z.string().nullable(),
      next_offset: z.int().nullable().describe('The patch continues at this character; null: it ends here.'),
    }),
    run: async ({ command }, { run, task, files_only: stat, offset }) => {
      const { diff } = await import('../commands/diff.ts');
      const { openTarget } = await import('../find-target.ts');
      const name = run ?? (await openTarget(command, { kinds: 'run or task' })).reading.row.name;
      const { objects } = await captured(command, async (inner) => diff(inner, name, task, { json: true, stat }));
      const { name: of, from, to, files, patch: whole } = diffSchema.parse(objects[0]);
      const patch = whole?.slice(offset, offset + PAGE) ?? null;
      const next = whole !== undefined && whole.length > offset + PAGE ? offset + PAGE : null;
      const text = [
        `${of} changed ${counted(files.length, 'file')}. They are on branch squad/${of}.`,
        ...(patch === null ? files.map(({ path }) => path) : [patch]),
        ...(next === null ? [] : [`The patch continues: run_diff with offset ${next}.`]),
      ];
      return { text: text.join('\n'), found: { run: of, from, to, files, patch, next_offset: next } };
    },
  }),
];

const planSchema = z.object({
  name: z.string(),
  question: z.object({ id: z.string(), answer: z.string().nullable() }).nullable(),
  plan: z.record(z.string(), z.unknown()),
});

const diffSchema = z.object({
  name: z.string(),
  from: z.string(),
  to: z.string(),
  files: z.array(z.looseObject({ path: z.string() })),
  patch: z.string().optional(),
});
