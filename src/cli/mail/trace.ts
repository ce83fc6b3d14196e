import { once } from 'node:events';
import type { MailTrace } from '../../substrate/ports/mailbox.ts';
import type { CommandContext } from '../command-context.ts';
import { messageNamed } from './draft.ts';
import { exportMail } from './export.ts';
import { traceJson, traceLine, localeOf } from './mail-text.ts';
import { lookAtMail, type OpenedMail } from './open-mail.ts';
import type { TraceOptions } from './options.ts';

/** Prints every message and its deliveries, oldest first, while it reads them: a long history needs no memory. */
export async function trace(context: CommandContext, options: TraceOptions): Promise<void> {
  await lookAtMail(context, options, async (opened) => {
    if (options.export !== undefined) return exportMail(context, opened, options.export, options);
    const { mail, root } = opened;
    const locale = await localeOf(context.host, root, options);
    for (const entry of selected(opened, options)) {
      if (options.json === true) context.output.json(traceJson(entry));
      else context.output.line(traceLine(mail, entry, locale));
      if (process.stdout.destroyed) return;
      if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
    }
  });
}

function* selected(opened: OpenedMail, { task, corr, after }: TraceOptions): Generator<MailTrace, void> {
  const { mail, run } = opened;
  const entries = mail.trace({
    runId: run.id,
    ...(task === undefined ? {} : { task }),
    ...(after === undefined ? {} : { afterSeq: after }),
  });
  if (corr === undefined) return yield* entries;
  const root = messageNamed(opened, corr)?.id ?? corr;
  const thread = new Set([root]);
  for (const entry of entries) {
    if (entry.event === 'message' && thread.has(entry.message.corr ?? '')) thread.add(entry.message.id);
    if (entry.event !== 'presence' && thread.has(entry.event === 'message' ? entry.message.id : entry.id)) yield entry;
  }
}
