/** The meaning of a request to the page. */
export type Route =
  | { readonly to: 'asset'; readonly name: 'page.js' | 'page.css' }
  | { readonly to: 'runs' | 'runs-events' }
  | { readonly to: OfRun; readonly repository: string; readonly run: string }
  | { readonly to: 'run-folder'; readonly repository: string; readonly run: string }
  | { readonly to: 'turn' | 'turn-events'; readonly repository: string; readonly run: string; readonly attempt: string }
  | { readonly to: 'act'; readonly repository: string; readonly run: string; readonly act: string };

type OfRun = 'run' | 'run-events' | 'diff' | 'diff-events';

/** undefined: nothing is there. `target`: as the guard makes it, without the secret. */
export function routeOf(method: string, target: string): Route | undefined {
  const parts = partsOf(target);
  if (parts === undefined) return undefined;
  const [repository = '', run = '', third, fourth, fifth, sixth] = parts;
  if (sixth !== undefined) return undefined;
  if (method === 'POST') {
    return third === undefined || third === '' || fourth !== undefined
      ? undefined
      : { to: 'act', repository, run, act: third };
  }
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (parts.length === 1) {
    if (repository === '') return { to: 'runs' };
    if (repository === 'events') return { to: 'runs-events' };
    return repository === 'page.js' || repository === 'page.css' ? { to: 'asset', name: repository } : undefined;
  }
  if (repository === '' || run === '') return undefined;
  if (third === undefined) return { to: 'run-folder', repository, run };
  if (third === 'turns') {
    if (fourth === undefined || fourth === '') return undefined;
    if (fifth === undefined) return { to: 'turn', repository, run, attempt: fourth };
    return fifth === 'events' ? { to: 'turn-events', repository, run, attempt: fourth } : undefined;
  }
  const place = [third, fourth, fifth].flatMap((part) => part ?? []).join('/');
  return Object.hasOwn(PLACES, place) ? { to: PLACES[place] ?? 'run', repository, run } : undefined;
}

/** Below the address of a run. */
const PLACES: Readonly<Record<string, OfRun>> = {
  '': 'run',
  events: 'run-events',
  diff: 'diff',
  'diff/events': 'diff-events',
};

function partsOf(target: string): string[] | undefined {
  try {
    return target
      .replace(/[?#][^]*$/, '')
      .slice(1)
      .split('/')
      .map((part) => decodeURIComponent(part));
  } catch {
    return undefined;
  }
}
