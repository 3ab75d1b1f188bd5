/**
 * Template variables of /v1/get: each `%%name%%` in the content is replaced by `env.name`, in one pass; what is put in is not looked at again. Service-1, identity rule 5.
 */

// A name ends at the next `%%` and holds neither `%` nor a line break: linear time on any text.
const VARIABLE = /%%([^%\r\n]{1,128})%%/g

/** Names without a value stay as they are. */
export function fillTemplate(contentMd: string, env: Readonly<Record<string, string>>): string {
  return contentMd.replace(VARIABLE, (whole, name: string) => (Object.hasOwn(env, name) ? (env[name] as string) : whole))
}
