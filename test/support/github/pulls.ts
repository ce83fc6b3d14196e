import { restOf } from './issues.ts';
import { NOT_FOUND, type Route } from './route.ts';

/** Pull requests, their checks and reviews. */
export const pullRoutes: Route = (state, request) => {
  const [kind] = restOf(state, request) ?? [];
  return kind === 'pulls' ? NOT_FOUND : undefined;
};
