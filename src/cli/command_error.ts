/** The reason why a command failed, in one line. */
export class CommandError extends Error {}
