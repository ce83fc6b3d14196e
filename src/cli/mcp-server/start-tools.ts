import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isSquadError, SquadError, usageError, type ErrorCode } from '../../model/errors.ts';
import { BEST_OF, TRIES } from '../../model/playbook-name.ts';
import { openMachine } from '../../engine/machine.ts';
import { checkoutAt } from '../../squad/open-workspace.ts';
import { isWithin } from '../../substrate/system/files/confine.ts';
import { realPath } from '../../substrate/system/files/real-path.ts';
import { defined } from '../../text/defined.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import { captured, type Captured } from './captured-command.ts';
import { defineRunTool, RUN, type RunTool, type ToolContext } from './run-tool.ts';

const detachedSchema = z.strictObject({
  run: z.string().describe('Its name, for the other tools.'),
  log: z.string().nullable().describe('The file with the output of its engine.'),
});

/** Tools that start engines, each in a process of its own that outlives this server. */
export const START_TOOLS: readonly RunTool[] = [
  defineRunTool({
    name: 'start_run',
    title: 'Start a run',
    description:
      'Start a team of coding agents on an objective in this repository. It returns at once; the run works in the background on a ' +
      'branch of its own, for minutes or hours, and costs money. Follow it with run_status.',
    hints: { destructiveHint: false, openWorldHint: true },
    input: z.strictObject({
      objective: z
        .string()
        .min(1)
        .max(100_000)
        .describe(
          'What to do, in words; or the path of a Markdown file of the repository, `#12`, or the URL of an issue.',
        ),
      name: z.string().max(100).exactOptional().describe('Name of the run. Default: from the objective.'),
      playbook: z
        .string()
        .max(200)
        .exactOptional()
        .describe('How the team works, as `squad run --help` lists. Default: as the repository says.'),
      tries: z
        .int()
        .min(TRIES.least)
        .max(TRIES.most)
        .exactOptional()
        .describe(`With the playbook ${BEST_OF}: how many agents do the same work. Default: ${TRIES.usual}.`),
      ask_plan: z.boolean().default(false).describe('A person sees the plan first and approves it.'),
    }),
    output: detachedSchema,
    run: async (context, { objective, name, playbook, tries, ask_plan: asks }) => {
      await refuseOtherFiles(context, playbook === undefined ? [objective] : [objective, playbook]);
      const named = defined({ name, playbook, tries, plan: asks ? ('ask' as const) : undefined });
      const options = { ...context.limits, ...named, detach: true, json: true };
      const { run } = await import('../commands/run.ts');
      const words = [
        ...(name === undefined ? [] : ['--name', name]),
        ...(playbook === undefined ? [] : ['--playbook', playbook]),
        ...(tries === undefined ? [] : ['--tries', String(tries)]),
      ];
      const again = ['squad run', ...[objective, ...words].map(shellWord), '--detach'].join(' ');
      const done = await withConsent(again, async () =>
        captured(context.command, async (inner) => run(inner, objective, options)),
      );
      return started(done);
    },
  }),
  defineRunTool({
    name: 'resume_run',
    title: 'Continue a run',
    description:
      'Continue a run that was stopped or interrupted, in the background. It starts its agents again, which costs money.',
    hints: { destructiveHint: false, openWorldHint: true },
    input: z.strictObject({ run: RUN }),
    output: detachedSchema,
    run: async (context, { run: name }) => resumeInBackground(context, name),
  }),
  defineRunTool({
    name: 'stop_run',
    title: 'Stop a run',
    description: 'End the agents of a run now. Its work stays, and resume_run continues it.',
    hints: { destructiveHint: true, openWorldHint: false },
    input: z.strictObject({ run: RUN }),
    output: z.strictObject({
      run: z.string(),
      ended: z.array(z.string()).describe('Turns of agents that were ended.'),
    }),
    run: async ({ command }, { run }) => {
      const { stop } = await import('../commands/stop.ts');
      const { objects } = await captured(command, async (inner) => stop(inner, run, { json: true }));
      const found = z.object({ name: z.string(), ended: z.array(z.string()) }).parse(objects[0]);
      return {
        text: `${found.name} is stopped. resume_run continues it.`,
        found: { run: found.name, ended: found.ended },
      };
    },
  }),
];

/** Starts an engine for a run that waits, stopped or was interrupted. */
export async function resumeInBackground(context: ToolContext, name: string | undefined) {
  const { resume } = await import('../commands/run.ts');
  const again = name === undefined ? 'squad resume' : `squad resume ${shellWord(name)}`;
  const done = await withConsent(again, async () =>
    captured(context.command, async (inner) => resume(inner, name, { detach: true, json: true })),
  );
  return started(done);
}

const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('detached'), name: z.string(), log: z.string() }),
  // A pause of a run whose engine lives is lifted there.
  z.object({ type: z.literal('intervened'), name: z.string(), log: z.undefined().optional() }),
  z.object({ type: z.literal('error'), code: z.string(), message: z.string(), next: z.string().nullable() }),
]);

/** The engine itself may have refused the run, and has said so in place of the command. */
function started({ objects }: Captured) {
  const line = lineSchema.safeParse(objects.at(-1)).data;
  if (line === undefined)
    throw usageError('the engine ended before it had the run', 'See with `squad doctor` what is wrong.');
  if (line.type === 'error') {
    throw new SquadError({
      code: line.code as ErrorCode,
      message: line.message,
      ...(line.next === null ? {} : { next: line.next }),
    });
  }
  const text = `${line.name} runs in the background. Next: run_status with run "${line.name}" and wait_seconds 50.`;
  return { text, found: { run: line.name, log: line.log ?? null } };
}

/** A person agrees once to what a run may start on this machine; no program can do so. */
async function withConsent<T>(command: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isSquadError(error) || error.code !== 'not-trusted') throw error;
    const next = `Only a person can agree to this, once: in a terminal of this repository \`${plainLine(command, 2_000)}\`, which asks and then starts it.`;
    throw new SquadError({ code: error.code, message: error.message, next, cause: error });
  }
}

/** A caller that is confined itself reads no other file by way of this server, and no protocol as an objective. */
async function refuseOtherFiles({ command: { host } }: ToolContext, given: readonly string[]): Promise<void> {
  if (given.some((one) => one.trim() === '' || one.trim() === '-'))
    throw usageError('the objective or the playbook is empty', 'Say in words what to do.');
  const { root } = await checkoutAt(openMachine(host), host.workingDirectory);
  const isOther = (one: string): boolean => {
    const path = resolve(host.workingDirectory, one);
    return existsSync(path) && !isWithin(realPath(root) ?? root, realPath(path) ?? path);
  };
  const other = given.find(isOther);
  if (other === undefined) return;
  throw usageError(
    `${plainLine(other)} is outside of the repository`,
    'Say in words what to do, or name a file of the repository.',
  );
}
