import { allowFile, allowRun, isAllowed } from '../../squad/pool/allow-list.ts';
import { aboutSchema } from '../../squad/pool/about.ts';
import { openMachine } from '../../engine/machine.ts';
import { badInput, usageError } from '../../model/errors.ts';
import { trustLines } from '../../squad/preflight/consent.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext } from '../command-context.ts';
import { confirm } from '../consent.ts';
import { printResult } from '../output.ts';
import type { PoolOptions } from './pool-flags.ts';
import { withPool } from './with-pool.ts';

/** Records in this person's own settings that this machine may work on runs like this one. */
export async function allow(
  context: CommandContext,
  name: string,
  options: PoolOptions<'worker allow'>,
): Promise<void> {
  const { host, output, exit } = context;
  const { run, asked } = await withPool(context, options, async ({ store }) => {
    const run = await store.run(name);
    const about = aboutSchema.safeParse(run.about).data;
    if (about === undefined)
      throw badInput(`another version of squad submitted ${plainLine(run.name, 80)}`, 'Update squad here.');
    return { run, asked: { repository: run.repository, items: about.items } };
  });
  const path = allowFile(host);
  const found = { type: 'run-allowed', runId: run.id, name: run.name, repository: run.repository, path };
  if (await isAllowed(host, asked))
    return printResult(output, options, found, [`This machine may work on ${run.name}: ${path} says so.`]);
  const where = `run ${run.name}`;
  const items = asked.items.map(({ from, run: does }) => ({ from, run: does, where })) as Parameters<
    typeof trustLines
  >[0];
  const lines = [
    `${run.name} of ${plainLine(run.repository, 300)}, from ${plainLine(run.submittedBy, 80)}, would do this on this machine:`,
    '  work in a checkout of that repository, with the logins of this user',
    ...trustLines(items).map((line) => `  ${line}`),
  ];
  if (options.yes !== true) {
    if (!process.stdin.isTTY || options.json === true)
      throw usageError(lines.join('\n'), `Allow exactly this with \`squad worker allow ${run.name} --yes\`.`);
    for (const line of lines) output.problem(line);
    if (!(await confirm('Allow exactly this here, now and for later runs?'))) return exit(1);
  }
  await allowRun(host, asked, openMachine(host).clock.now());
  printResult(output, options, found, [
    ...(options.yes === true ? lines : []),
    `Allowed: this machine may work on ${run.name}, and on runs of that repository that do the same.`,
  ]);
}
