import { z } from 'zod';
import { refuse } from '../../model/mail/refusal.ts';
import { plainJson } from '../../text/json.ts';
import { defineTool, type MailTool } from './tool.ts';

export const OTHER_ACTIONS = 'mail';

/** The tools that are not listed, as actions of one tool. Each action is checked as a call of its tool. */
export function otherActions(tools: readonly MailTool[]): MailTool {
  return defineTool({
    name: OTHER_ACTIONS,
    description:
      'Everything else: read your mail (inbox, accept), see the members and what waits (status), other asks and answers.',
    verb: null,
    answers: [],
    input: z.strictObject({
      action: z.enum(tools.map(({ name }) => name)),
      arguments: z
        .record(z.string(), z.unknown())
        .exactOptional()
        .describe('Without them, an action that sends says what it takes, and sends nothing.'),
    }),
    run: (context, { action, arguments: given }, key) => {
      const tool = tools.find(({ name }) => name === action);
      if (tool === undefined) return refuse('invalid_format', 'action', 'is none of yours');
      if (given !== undefined || tool.verb === null) return tool.call(context, given, key);
      return { ok: true, content: { action, does: tool.description, arguments: plainJson(tool.schema()) } };
    },
  });
}
