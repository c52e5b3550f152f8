/** An area of a store with some methods replaced; all others are its own. */
export function overriding<Area extends object>(area: Area, methods: Partial<Area>): Area {
  return Object.assign(Object.create(area), methods);
}
