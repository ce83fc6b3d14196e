/** Records of a session's tasks that are done, by the slug of the session's task, in the order of their ends. */
export const DONE = 'session-done';
