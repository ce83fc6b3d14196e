/** The commands whose output is all that they do, with those of the groups `db`, `mail` and `session`. */
const ONLY_PRINT = new Set(
  'doctor,runs,status,watch,show,log,report,trace,diff,completion,complete,session check,db check,db export,mail inbox,mail status,mail trace,mail listen,request list,request show,backlog'.split(
    ',',
  ),
);

/** Exit code of a command whose output is lost, where the output was its whole work. */
const OUTPUT_LOST = 74;

/**
 * The exit code of a command, decided once its output is out. `command`: its words, as in `db export`; empty for a help text or the
 * version. A command that did something keeps its own code, because that is what it did.
 */
export function decideEndCode(command: string, code: number, isOutputLost: boolean): number {
  const onlyPrints = command === '' || ONLY_PRINT.has(command);
  return isOutputLost && code === 0 && onlyPrints ? OUTPUT_LOST : code;
}
