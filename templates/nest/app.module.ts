import { Controller, Get, Module } from "@nestjs/common";

@Controller()
class HomeController {
  @Get()
  home() {
    return "The shop";
  }
}

@Module({ controllers: [HomeController] })
export class AppModule {}
