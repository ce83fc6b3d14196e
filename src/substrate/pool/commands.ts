import { usageError } from '../../model/errors.ts';
import type { Json } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { uuid7 } from '../system/clock/ids.ts';
import type { PoolCommand, PoolStore } from '../ports/pool.ts';
import type { PoolDatabase } from './database.ts';
import { FENCE, fenceOf, jsonOf, lostClaim, msOf, announce } from './statements.ts';

interface Row {
  id: string;
  run: string;
  verb: string;
  args: Json;
  by: string;
  at: number;
  done_at: number | null;
  answer: Json;
}

const COLUMNS = `id, run, verb, args, by, ${msOf('at')} as at, ${msOf('done_at')} as done_at, answer`;

type CommandVerbs = Pick<PoolStore, 'command' | 'findCommand' | 'commandsFor' | 'answerCommand'>;

export function commandVerbs(database: PoolDatabase, now: () => number): CommandVerbs {
  return {
    command: async (run, verb, args, by) =>
      database.transaction(async (statements) => {
        const live = await statements.change(
          `update squad_pool.run set state = case when state in ('waiting', 'over') then 'queued' else state end, again = null
           where id = $1 and state <> 'removed'`,
          [run],
        );
        if (live === 0)
          throw usageError(
            `the pool has no run ${plainLine(run, 80)} any more`,
            'See `squad pool` for those that it has.',
          );
        const [row] = await statements.rows<Row>(
          `insert into squad_pool.command (id, run, verb, args, by) values ($1, $2, $3, $4, $5) returning ${COLUMNS}`,
          [uuid7(now()), run, verb, jsonOf(args), by],
        );
        await announce(statements, run);
        if (row === undefined) throw new Error('a command was not inserted');
        return commandOf(row);
      }),
    findCommand: async (id) => {
      const [row] = await database.rows<Row>(`select ${COLUMNS} from squad_pool.command where id = $1`, [id]);
      return row && commandOf(row);
    },
    commandsFor: async (run) => {
      const rows = await database.rows<Row>(
        `select ${COLUMNS} from squad_pool.command where run = $1 and done_at is null order by command.at, id`,
        [run],
      );
      return rows.map(commandOf);
    },
    answerCommand: async (claim, id, answer) => {
      await database.transaction(async (statements) => {
        const held = await statements.rows(`select from squad_pool.run where ${FENCE} for share`, fenceOf(claim));
        if (held.length === 0) throw lostClaim(claim);
        await statements.change(
          `update squad_pool.command set done_at = clock_timestamp(), answer = $3 where id = $1 and run = $2 and done_at is null`,
          [id, claim.run, jsonOf(answer)],
        );
        await announce(statements, claim.run);
      });
    },
  };
}

function commandOf({ done_at: doneAt, ...row }: Row): PoolCommand {
  return { ...row, doneAt };
}
