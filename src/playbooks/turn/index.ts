import { defined } from '../../text/defined.ts';
import { z } from 'zod';
import { jsonSchema } from '../../text/json-schema.ts';
import type { Playbook } from '../../model/plan.ts';
import type { Objective } from '../../model/plan/board.ts';
import { TURN } from '../../model/playbook-name.ts';
import { addTask, finishWhenEnded, workTask } from '../shared/tasks.ts';

/** The JSON Schema of the answer; absent: any text. */
export const turnOptionsSchema = z.object({ schema: z.record(z.string(), jsonSchema).optional() });

/**
 * One task for one agent, with the objective's text as its whole prompt. `squad dev turn` runs it. The agent may change
 * files, and has no mailbox.
 */
export function createTurnPlaybook({ schema }: z.infer<typeof turnOptionsSchema>): Playbook<Objective> {
  return {
    name: TURN,
    roles: { [TURN]: { delivers: 'some' } },
    schemas: defined({ [TURN]: schema }),
    parse: ({ objective }) => ({ ok: true, input: objective }),
    plan: ({ title, text }) => {
      const task = workTask(
        { id: TURN, title, role: TURN, brief: text },
        {
          workspace: 'own',
          integrate: true,
          mayChangeNothing: true,
          ...defined({ output: schema && { schema: TURN, repairs: 0 } }),
        },
      );
      return [addTask({ ...task, brief: { text, verbatim: true } })];
    },
    advance: (view, event) => {
      if (event.type === 'gate-refused') return [{ do: 'finish', outcome: 'failed', why: event.problems.join('\n') }];
      return event.type === 'task-done' || event.type === 'task-failed' || event.type === 'task-skipped'
        ? finishWhenEnded(view)
        : [];
    },
    tools: () => [],
  };
}
