import type { Intent } from '../../model/people/verbs.ts';
import type { Team } from '../../model/sprint/team.ts';
import { activeSprint } from '../../model/sprint/team.ts';
import { plainLine } from '../../text/plain-text.ts';

/** Says all that squad read out of a text, so that its sender can confirm it. */
export function asksYes(intent: Intent, team: Team): string {
  return `${meant(intent, team)}\nWrite \`yes\` within an hour, or \`no\`.`;
}

export function notDone(intent: Intent, team: Team): string {
  return `Nothing was done. ${meant(intent, team)}`;
}

function meant(intent: Intent, team: Team): string {
  switch (intent.verb) {
    case 'cancel': {
      const text = team.request.get(intent.request)?.text ?? '';
      return `squad read: cancel the request ${intent.request}${text === '' ? '' : `, “${plainLine(text, 200)}”`}.`;
    }
    case 'sprint-start':
      return `squad read: start a sprint for “${plainLine(intent.milestone, 2_000)}”.`;
    case 'sprint-stop': {
      const sprint = activeSprint(team);
      const which = sprint === undefined ? 'the sprint, and none is active' : `the sprint ${sprint}`;
      return `squad read: stop ${which}${intent.now ? ', and end what is at work' : ''}.`;
    }
    case 'action':
      return `squad read: run the action ${[intent.name, ...intent.args.map((one) => JSON.stringify(one))].join(' ')}.`;
    default:
      return `squad read: ${intent.verb}.`;
  }
}
