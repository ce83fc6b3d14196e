import { SquadError } from '../../model/errors.ts';

/** Flags of the protocol's specification that squad does not have. */
export interface Declined {
  readonly autoInput?: boolean;
  readonly autoReply?: boolean;
  readonly promptPath?: string;
}

/** Throws `usage` that says why, and what there is instead. */
export function refuseDeclined({ autoInput, autoReply, promptPath }: Declined): void {
  if (autoInput === true) {
    throw new SquadError({
      code: 'usage',
      message: '--auto-input is declined: squad never types into another program',
      next: 'See mail where it arrives: `squad mail listen`, or a window of `squad team`.',
    });
  }
  if (autoReply !== true && promptPath === undefined) return;
  throw new SquadError({
    code: 'usage',
    message:
      '--auto-reply and --prompt-path are declined: a model that answers outside its session, budget and worktree would be outside every cap',
    next: 'Drive the run (`squad resume`): its engine gives an agent its mail, and takes up one that is finished.',
  });
}
