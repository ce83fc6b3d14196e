import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';

/** A small turn in a repository of its own. */
export function requestOf(changes: Partial<TurnRequest> = {}): TurnRequest {
  return {
    turnId: 'turn-1',
    workspace: { path: '/w/tree', repository: true },
    prompt: 'do it',
    instructions: 'be good',
    access: { level: 'edit' },
    mcp: [],
    limits: DEFAULT_TURN_LIMITS,
    ...changes,
  };
}
