import { describe, expect, it } from "vitest";
import {
  bodyHoldsValue,
  bodyMeetsCondition,
  ERASED,
  meetsCondition,
  textWithoutValue,
  withoutValue,
} from "../../src/domain/index.ts";

describe("a condition on payloads", () => {
  const of = (path: string, value: string) => ({ path, value });

  it.each([
    ["customer", { customer: "cus_1" }],
    ["customer", { data: { customer: "cus_1" } }],
    ["customer", { data: { object: { customer: "cus_1" } } }],
    ["customer.id", { customer: { id: "cus_1" } }],
    ["lines.customer", { lines: [{ customer: "cus_2" }, { customer: "cus_1" }] }],
    ["customers", { customers: ["cus_2", "cus_1"] }],
  ])("a value at the path %s is found: %j", (path, payload) => {
    expect(meetsCondition(payload, of(path, "cus_1"))).toBe(true);
    expect(meetsCondition(payload, of(path, "cus_"))).toBe(false);
  });

  it("a copy without the value has it neither in names, nor in texts, nor as a number", () => {
    const json = { of_cus_1: "from cus_1", id: 4200, list: ["cus_1", { id: "x" }] };
    expect(JSON.stringify(withoutValue(json, "cus_1"))).not.toContain("cus_1");
    expect(withoutValue(json, "4200")).toMatchObject({ id: ERASED });
  });

  it("JSON in a text or in a form's field has its values under the name of that", () => {
    const payload = JSON.stringify({ sender: { login: "cus_1" } });
    for (const body of [JSON.stringify({ payload }), new URLSearchParams({ payload }).toString()])
      expect(bodyMeetsCondition(body, of("payload.sender.login", "cus_1"))).toBe(true);
  });

  it.each([
    ["191167.50", { id: 191167.5 }],
    ["4200", { id: 4200 }],
  ])("a number is found as it is written: %s", (value, payload) => {
    expect(meetsCondition(payload, of("id", value))).toBe(true);
    expect(meetsCondition(payload, of("id", `${value}1`))).toBe(false);
  });

  it("a form's field is found at each of its repetitions", () => {
    const form = "customer=cus_1&customer=cus_2";
    expect(["cus_1", "cus_2", "cus_3"].map((value) => bodyMeetsCondition(form, of("customer", value)))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it.each([
    ["Jane Doe", "/callback?name=Jane+Doe&again=Jane%20Doe"],
    ["Jürgen", "/callback?name=j%c3%bc&again=J%c3%bcrgen&third=J%C3%BCrgen"],
    ['A "B" \\ C', JSON.stringify({ name: 'A "B" \\ C' })],
    ["Jürgen", '{"name":"J\\u00fcrgen"}'],
    ["name\ud83d of a person", "it is of the name\ud83d of a person"],
  ])("a text without the value %j has no other form of it", (value, text) => {
    const without = textWithoutValue(text, value);
    expect(without).toContain(ERASED);
    for (const part of ["Jane", "rgen", "B", "person"]) expect(without).not.toContain(part);
  });

  it.each([
    "name=x&note=of+Jane+Doe",
    JSON.stringify({ bytes: 9_000, start: '[{"customer":"Jane Doe"}, ' }),
    JSON.stringify({ message: JSON.stringify({ customer: "Jane Doe" }) }),
    "a text of Jane Doe",
  ])("a whole request holds the value in a form, a beginning, JSON in JSON or a text: %s", (body) => {
    expect(bodyHoldsValue(body, of("customer", "Jane Doe"))).toBe(true);
    expect(bodyHoldsValue(body, of("customer", "John Doe"))).toBe(false);
  });
});
