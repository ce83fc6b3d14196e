/** The meaning of a request to the page. */
export type Route =
  | { readonly to: 'asset'; readonly name: 'page.js' | 'page.css' }
  | { readonly to: 'runs' | 'runs-events' }
  | { readonly to: 'run' | 'run-events' | 'run-folder'; readonly repository: string; readonly run: string }
  | { readonly to: 'turn'; readonly repository: string; readonly run: string; readonly attempt: string }
  | { readonly to: 'act'; readonly repository: string; readonly run: string; readonly act: string };

/** undefined: nothing is there. `target`: as the guard makes it, without the secret. */
export function routeOf(method: string, target: string): Route | undefined {
  const parts = partsOf(target);
  if (parts === undefined) return undefined;
  const [repository = '', run = '', third, fourth, fifth] = parts;
  if (fifth !== undefined) return undefined;
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
  if (fourth === undefined) return third === '' ? { to: 'run', repository, run } : eventsOf(third, repository, run);
  return third === 'turns' && fourth !== '' ? { to: 'turn', repository, run, attempt: fourth } : undefined;
}

function eventsOf(name: string, repository: string, run: string): Route | undefined {
  return name === 'events' ? { to: 'run-events', repository, run } : undefined;
}

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
