/** The import of a page, from the lane that has checked it to the front end that fetches it. Pure types. */

export interface PageImport {
  readonly collection: string
  readonly key: string
  readonly lang: string
  readonly url: string
  /** Checked. */
  readonly meta: Readonly<Record<string, readonly string[]>>
  readonly ttl: number
  /** Of an HTML page: without menus, sidebars and footers. */
  readonly mainContent: boolean
}
