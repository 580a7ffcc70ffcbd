/** The objects of a use case as a picture: places by dagre, drawn as SVG without any style of its own. */
import { graphlib, layout } from "@dagrejs/dagre";
import type { ObjectNode, Objects } from "../model/objects";
import { h, link } from "./ui";

const SVG = "http://www.w3.org/2000/svg";
const MOST = 60; // objects that are drawn
const HEIGHT = 46;
const LEAST = 0.75; // of its width, where letters can still be read
const LONGEST = 48; // characters of a name

type Address = (file: string) => string;

export function picture(objects: Objects, address: Address): Element {
  if (!objects.nodes.length) return h("p", {}, "It has no objects.");
  if (objects.nodes.length > MOST) return h("p", {}, `It has ${objects.nodes.length} objects, too many for a picture: see the list below.`);
  const graph = new graphlib.Graph({ multigraph: true }).setGraph({ rankdir: "LR", nodesep: 18, ranksep: 90, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of objects.nodes) graph.setNode(node.id, { width: widthOf(node), height: HEIGHT });
  objects.edges.forEach((edge, place) => graph.setEdge(edge.from, edge.to, { width: edge.word.length * 6.4, height: 14, labelpos: "c" }, String(place)));
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": inWords(objects) });
  root.style.minWidth = `${width * LEAST}px`; // narrower ones are scrolled
  root.append(arrow());
  objects.edges.forEach((edge, place) => root.append(...drawn(graph.edge(edge.from, edge.to, String(place)) as Drawn, edge.word)));
  for (const node of objects.nodes) root.append(box(node, graph.node(node.id) as { x: number; y: number }, address));
  return root;
}

interface Drawn {
  readonly points: readonly { x: number; y: number }[];
  readonly x?: number;
  readonly y?: number;
}

function svg(tag: string, attributes: Record<string, string | number>, ...children: (Element | string)[]): SVGElement {
  const made = document.createElementNS(SVG, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

function arrow(): Element {
  const tip = svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" }, svg("path", { d: "M0,0 L8,4 L0,8 z" }));
  return svg("defs", {}, tip);
}

function drawn({ points, x, y }: Drawn, word: string): Element[] {
  const path = points.map((point, place) => `${place ? "L" : "M"}${point.x.toFixed(1)},${point.y.toFixed(1)}`).join(" ");
  const label = x === undefined || y === undefined ? [] : [svg("text", { x, y: y - 3, "text-anchor": "middle", class: "word" }, word)];
  return [svg("path", { d: path, "marker-end": "url(#tip)" }), ...label];
}

function box(node: ObjectNode, { x, y }: { x: number; y: number }, address: Address): Element {
  const width = widthOf(node);
  const parts = [
    svg("rect", { x: x - width / 2, y: y - HEIGHT / 2, width, height: HEIGHT, rx: 6 }),
    svg("text", { x, y: y - 5, "text-anchor": "middle", class: "kind" }, node.kind),
    " ",
    svg("text", { x, y: y + 12, "text-anchor": "middle" }, cut(node.name)),
  ];
  if (cut(node.name) !== node.name) parts.push(svg("title", {}, node.name));
  const group = svg("g", node.file ? {} : { class: "outside" }, ...parts);
  return node.file ? svg("a", { href: address(node.file) }, group) : group;
}

function widthOf({ kind, name }: ObjectNode): number {
  return Math.max(kind.length * 6.6, cut(name).length * 7.6) + 24;
}

function cut(name: string): string {
  return name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
}

function inWords({ nodes, edges }: Objects): string {
  const names = new Map(nodes.map((each) => [each.id, `${each.kind} ${each.name}`]));
  const said = edges.map((each) => `${names.get(each.from) ?? each.from} ${each.word} ${names.get(each.to) ?? each.to}`);
  return said.join("; ") || nodes.map((each) => `${each.kind} ${each.name}`).join("; ");
}

/** The same for those who do not see the picture. */
export function list({ nodes, edges }: Objects, address: Address): HTMLElement {
  const names = new Map(nodes.map((each) => [each.id, `${each.kind} ${each.name}`]));
  return h("ul", {}, nodes.map((each) => {
    const said = edges.filter(({ from }) => from === each.id).map(({ to, word }) => `${word} ${names.get(to) ?? to}`);
    const name = `${each.kind} ${each.name}`;
    return h("li", {}, each.file ? link(address(each.file), name) : name, said.length > 0 && `: ${said.join(", ")}`);
  }));
}
