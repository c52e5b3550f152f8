export default function Home() {
  return <h1>The shop</h1>;
}
