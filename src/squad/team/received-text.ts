import { ownerText } from '../../view/sprint/request-text.ts';
import type { RequestView } from '../../view/sprint/request-view.ts';
import type { AddedRequest } from './requests.ts';

/** The answer that its sender reads at once. */
export function receivedText({ id, how, items }: AddedRequest, view: RequestView): string {
  const owner = ownerText(view);
  switch (how) {
    case 'new':
      return `${id} is ${view.state}. ${owner}`.trim();
    case 'known':
      return `${id} was received before, and is ${view.state}. ${owner}`.trim();
    case 'join':
      return `${id} asks for the same, and is ${view.state}. ${owner}`.trim();
    case 'reopen':
      return `${id} gets this: ${items.join(', ')} can be worked on again. ${owner}`.trim();
  }
}
